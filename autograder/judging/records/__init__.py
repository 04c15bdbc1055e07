"""What the steps of judging pass on: errors, records, results. Plain data; nothing is asked or run here."""
