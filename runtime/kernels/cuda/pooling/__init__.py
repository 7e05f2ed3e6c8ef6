"""Pooling over windows of fixed size, and over as many windows as asked for."""
