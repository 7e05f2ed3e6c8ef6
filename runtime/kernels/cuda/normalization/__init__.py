"""Layer, batch and group normalisation."""
