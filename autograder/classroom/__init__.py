"""A whole class: its folder of submissions, the processes that grade it, its folder of results."""
