"""The log doctor: looks at the values of a log and proposes how to read it. Confidential; nothing else looks at values."""
