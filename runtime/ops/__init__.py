"""Floor 6: view arithmetic, shape functions, composite bodies and factories."""
