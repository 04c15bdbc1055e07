"""nbgrader's course folder with this course's lessons, and its gradebook with this grader's results."""
