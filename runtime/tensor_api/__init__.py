"""Floor 6: what a Tensor can do that is no operator: Python's protocols, indexing, exchange."""
