"""From what checks saw to what a learner is told: known mistakes, relations, the smallest failing case."""
