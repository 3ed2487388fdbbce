"""What leaves: release files and the guarantee file beside them."""
