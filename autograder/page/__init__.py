"""Python that runs in a book page's web worker; it imports nothing that a browser lacks."""
