"""Gradebooks that learning platforms can import, with their own columns."""
