"""The version of the course: it travels with the code, also where nothing was installed (a zip, a page, a folder)."""

RELEASE = "0.1.0"
