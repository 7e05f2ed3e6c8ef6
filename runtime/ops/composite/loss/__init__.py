"""Losses: of classes, of margins, element by element."""
