"""Event logs in and out: XES, CSV, Parquet, data frames."""
