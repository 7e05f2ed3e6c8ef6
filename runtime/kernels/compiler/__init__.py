"""A compiler for kernels' texts: from Python's syntax tree to LLVM's code in one walk.

Numba compiles any function of numbers and arrays, in some fifty passes over forms of its own; that
takes nine tenths of a kernel's first call. A kernel needs little of it: its types are known from
the left to the right, what it calls is part of its text, and no object of Python occurs in it. So
it is walked once. Every expression becomes LLVM's code as it is met (`expressions.py`,
`arrays.py`); a branch and a loop merge the variables of their ends (`flow.py`); a function of the
text is walked again wherever it is called, there and then (`calls.py`).

The rules are Numba's: which types arithmetic has, what a conversion and an index mean. Those that
nearly all kernels need are written down here (`kinds.py`, `scalars.py`, `convention.py`), and what
a text imports of Numba has stand-ins (`stand_ins.py`), so that a process compiles most kernels
without Numba. For other rules it is asked, and its own code generators are called
(`numba_rules.py`). What a kernel's text may not hold here raises `Unsupported`, and Numba compiles
the kernel; nobody but the clock notices.
"""
