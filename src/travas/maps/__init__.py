"""Process maps, post-processing only: from noisy measurements to counts with intervals, durations and quantiles."""
