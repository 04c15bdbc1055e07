"""What the steps hand on: errors, what a check saw, results. Data, and one line on it; nothing is asked or run here."""
