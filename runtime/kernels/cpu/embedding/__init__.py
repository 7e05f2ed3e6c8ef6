"""Rows of tables, alone and by bags."""
