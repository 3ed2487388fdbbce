"""The report for the data protection officer."""
