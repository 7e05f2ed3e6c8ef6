"""PyTorch's own table of operators (`op_db`) as test data: its samples through both libraries.

`catalogue.py` chooses the entries and finds each one's functions in both libraries, `transfer.py`
copies samples from one library into the other, `forward.py`, `destinations.py`, `gradients.py`,
`writes.py` and `refusals.py` hold the checks, `gaps.py` what is known to differ,
`first_release.py` what PyTorch 1.0 had already. `python -m tests.parity.op_db` runs chosen
entries and counts.
"""
