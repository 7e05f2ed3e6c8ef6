"""Linear algebra written with products and factorisations."""
