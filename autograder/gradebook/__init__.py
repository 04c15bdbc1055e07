"""Who is in a class, what counts of their results, and by whose rules: between results and reports."""
