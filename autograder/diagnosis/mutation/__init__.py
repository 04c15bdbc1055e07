"""Small slips in a reference: checks must notice each, and an answer that equals one is diagnosed as that slip."""
