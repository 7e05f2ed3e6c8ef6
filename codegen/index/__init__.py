"""The calculus of the index language: statements to statements, and to loops.

text.py      statements as the language writes them, for `explain` and docstrings
rewrite.py   folds by their definitions, solved conditions, statements put into others
reverse.py   reverse mode: the adjoint statements of a program
"""
