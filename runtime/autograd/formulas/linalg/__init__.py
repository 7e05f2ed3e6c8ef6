"""Gradients of linear algebra."""
