"""What operators do inside `vmap`: their kinds' rules, and composites for those that need one.

Such a tensor holds all samples along dim 0 (`core/batched.py`). A rule calls the operator, or
others, on them, so that derivatives and devices need not know of it.
"""
