"""Reports of runs behind a burst buffer of a given size."""
