"""Tables: CSV, Excel, Parquet and Arrow files and data frames, read with Polars."""
