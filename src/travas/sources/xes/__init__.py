"""XES files, read trace by trace in constant memory."""
