"""Sparse tensors as autograd sees them: values that come from them and go into them."""
