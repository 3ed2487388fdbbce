"""Reading event logs: from files, data frames, databases and Spark to variants."""
