"""Post-processing only: from noisy measurements to a synthetic log."""
