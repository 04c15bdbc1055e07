"""Python in a page of the book: what runs in the browser's worker, and imports nothing that a browser lacks."""
