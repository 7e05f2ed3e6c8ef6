"""The calculus of the index language: statements to statements, and to loops.

text.py        statements as the language writes them, for `explain` and docstrings
sizes.py       which sizes are equal, which whole numbers are never negative
rewrite.py     statements with other places, other names, other formulas
folds.py       folds by their definitions
solve.py       conditions of folds, solved for the indices that they tell
segments.py    folds over ranges that tensors tell, solved for the range
inline.py      statements put into those that read them
merge.py       sums over the same indices as one
reverse.py     reverse mode: the adjoint statements of a program
writer.py      prints a launch as a function: its items, places and elements
loads.py       prints what a formula reads, and where its value goes
edges.py       where along a loop all elements are inside their tensors
loop_texts.py  prints loops over indices
fold_texts.py  prints folds
bisection_texts.py  prints what looks for a range
scatter_texts.py  prints scatters
python.py      all launches of a program for the host
device.py      all launches of a program for devices
"""
