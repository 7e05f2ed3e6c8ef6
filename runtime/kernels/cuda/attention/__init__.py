"""Attention: softmax(q k^T) v."""
