"""Databases, whose rows are fetched as Arrow, and Spark, whose partitions run the table engine."""
