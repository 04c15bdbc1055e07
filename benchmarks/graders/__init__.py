"""The graders that are compared. Each module's `prepare` makes what one run needs, and says how to run it."""
