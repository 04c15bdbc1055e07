"""An assignment that three graders grade: its exercises, its checks, and a class that hands it in."""
