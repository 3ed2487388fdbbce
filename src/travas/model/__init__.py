"""The nouns: variants, abstractions, mechanisms, releases, and what is estimated and explained about them."""
