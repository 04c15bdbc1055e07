"""Tools for writing checks (fixtures, expectations, draws), and the pytest plugin that runs and records them."""
