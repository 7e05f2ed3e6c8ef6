"""Floor 6: operators' bodies, a family each: composites, shape functions, view arithmetic."""
