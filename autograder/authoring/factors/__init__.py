"""Factors of exercises' arguments: their levels, covering arrays of them, and which ones a lesson's checks have."""
