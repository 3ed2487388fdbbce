"""The core types: variants, abstractions, mechanisms and releases, with their estimates and explanations."""
