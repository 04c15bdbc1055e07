"""Gradebooks as learning platforms import them: their own columns, with points in them."""
