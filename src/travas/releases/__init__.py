"""The public results: variants, synthetic logs and process maps, with their estimates."""
