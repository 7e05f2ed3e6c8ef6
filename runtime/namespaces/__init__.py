"""Floor 6: the hand-written names of `torch`, `torch.cpu`, `torch.cuda`, `torch.random`."""
