"""Reading images between their elements, on a CUDA device."""
