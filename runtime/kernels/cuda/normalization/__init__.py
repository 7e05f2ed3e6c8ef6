"""Softmax and its kin; layer, batch and group normalisation."""
