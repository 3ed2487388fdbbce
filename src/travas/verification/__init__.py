"""What anybody can check: a guarantee file, and a release against it."""
