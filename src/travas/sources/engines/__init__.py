"""Databases and Spark, which count where the data are, through Ibis."""
