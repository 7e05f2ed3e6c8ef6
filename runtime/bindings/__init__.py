"""Floor 6: how generated functions read their arguments: positions, words, types, overloads."""
