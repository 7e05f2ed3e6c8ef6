"""What figures share; it exports nothing, so no public module stands for it."""
