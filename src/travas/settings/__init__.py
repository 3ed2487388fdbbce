"""The settings of a release: one table of them, and project files, which hold values of them."""
