"""Code that runs in the confined process, together with a submission.

Once a submission has run, this process is not trusted: it returns data, never a verdict. The folder imports only the
standard library, NumPy and PyTorch, so that a worker needs to see no other part of the grader.
"""
