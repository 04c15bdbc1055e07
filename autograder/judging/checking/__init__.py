"""What checks are written with: fixtures, expectations, draws; and the plugin that runs one and keeps what it saw."""
