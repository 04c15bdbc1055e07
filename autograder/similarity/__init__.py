"""Which answers of a class are alike. Submitted code is parsed here, and never run."""
