"""The document for the data protection officer."""
