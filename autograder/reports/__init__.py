"""Reports for people and platforms: a learner's feedback, pages and tables of a class."""
