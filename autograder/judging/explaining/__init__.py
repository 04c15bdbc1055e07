"""From what checks saw to what a learner is told: evidence of known mistakes, relations, the smallest failing case."""
