"""Reading images between their elements, on the CPU."""
