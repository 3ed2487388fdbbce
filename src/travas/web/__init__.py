"""The local web page: from a log to a signed-off release, for people who do not use a terminal. docs/web.md."""
