"""The command line: builds requests and renders outcomes."""
