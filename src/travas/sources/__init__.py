"""Events in: from files, frames, databases and Spark to the variants of a log."""
