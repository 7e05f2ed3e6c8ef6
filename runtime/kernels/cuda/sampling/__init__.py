"""Reading images between their elements, at points of a grid or at another size."""
