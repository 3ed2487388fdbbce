"""Pictures, no decisions."""
