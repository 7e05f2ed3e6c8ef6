"""Machine code as data: linked to images, placed into memory, kept in files, called from Python.

Nothing here knows Numba, and only what compiles imports it: a process that finds all its kernels
compiled before never does.
"""
