"""PyTorch's own table of modules (`module_db`) as test data: its constructions, inputs and errors.

`running.py` makes each module in both libraries, with the same weights, and compares what they
compute; `gaps.py` says what is known to differ.
"""
