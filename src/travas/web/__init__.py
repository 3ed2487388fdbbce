"""The local web app, from a log to a signed-off release without a terminal: docs/web.md."""
