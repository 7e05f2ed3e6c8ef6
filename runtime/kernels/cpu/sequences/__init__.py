"""Attention and recurrent layers."""
