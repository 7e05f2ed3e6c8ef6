"""Floor 8: what is written with operators: layers, optimizers, distributions, data, programs."""
