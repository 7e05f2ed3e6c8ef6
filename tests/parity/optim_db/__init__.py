"""PyTorch's own table of optimizers (`optim_db`) as test data: its options and its errors.

`running.py` trains the same weights in both libraries and compares them step by step, `gaps.py`
says what is known to differ.
"""
