"""A chapter in the terminal: which part of it is meant, and its MyST as Markdown that a terminal can show."""
