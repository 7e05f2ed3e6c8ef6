"""Optimizers and learning rate schedulers; PyTorch's `torch.optim`, which lists them."""
