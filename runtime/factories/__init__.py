"""Floor 6: what makes tensors: numbers, sequences, windows, data of others, random draws."""
