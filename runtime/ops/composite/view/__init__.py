"""Shapes, parts and gradients of views, written with views."""
