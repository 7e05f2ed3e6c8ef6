"""What operators do for sparse tensors: composites over indices and values, which are dense."""
