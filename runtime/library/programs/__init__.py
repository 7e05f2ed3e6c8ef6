"""What programs written for PyTorch name besides tensors and networks.

Most of it they import at the top and hardly use. Each part is real where it can be; where it
cannot, questions are answered with no, and what would need the missing part raises an error that
says so (`runtime.library.programs.absent`). `as_torch` makes `import torch` mean this library.
"""
