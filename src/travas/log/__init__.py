"""The log as it was read, and the public rules and questions about it."""
