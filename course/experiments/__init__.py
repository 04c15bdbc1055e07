"""Experiments that chapters run small and a GPU runs at full size: `python -m course.experiments.NAME --help`."""
