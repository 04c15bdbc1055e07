"""Experiments that chapters run at a small size. Some are commands for a GPU: `python -m course.experiments.NAME`."""
