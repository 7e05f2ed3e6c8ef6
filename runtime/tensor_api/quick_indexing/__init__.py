"""Common indexing in one step: views by ints, slices, None and `...`, writes there, small takes.

What the operators select, slice, unsqueeze, index and fill_ do in several calls is done at once,
for tensors whose keys say that at most autograd takes part, which records the same operators. The
way is chosen per class of the index and per key, as an operator chooses its call; where there is
none, or where it answers None, the operators have to do it.

Source: benchmarks/cases/overhead.py; a third to a half of the operators' time.
"""
