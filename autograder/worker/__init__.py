"""What runs beside a submission, in the confined process.

Nothing here is trusted once a submission has run: it returns data, never a verdict. The folder imports the
standard library and NumPy alone, so that a worker can be shown this folder and no other part of the grader.
"""
