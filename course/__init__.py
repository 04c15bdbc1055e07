"""The part of the course that learners get: the list of lessons, data, instruments and experiments."""
