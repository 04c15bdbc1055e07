"""Turns results into grades: who is in the class, which results count, and by which rules."""
