"""Floor 1: dtype, device, layout, shape, storage and the tensor record; knows no operator."""
