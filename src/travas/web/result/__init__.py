"""The result of a release on the page: its tabs, the comparison with the original log, and the files to hand over."""
