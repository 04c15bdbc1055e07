"""What people read: a learner's feedback, the table of a class."""
