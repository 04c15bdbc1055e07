"""A reference with one small slip: checks must notice it, and an answer that equals it is named by it."""
