"""The local web app: one workbench for one owner, from a log to a signed-off release."""
