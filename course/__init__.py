"""What learners are given: the list of lessons, the data and the instruments of the course."""
