"""What leaves: variants, synthetic logs and process maps, with their estimates."""
