"""Finds similar answers in a class. Submitted code is parsed here, never run."""
