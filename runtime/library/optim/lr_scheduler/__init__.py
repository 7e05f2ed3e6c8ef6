"""Learning rate schedulers."""
