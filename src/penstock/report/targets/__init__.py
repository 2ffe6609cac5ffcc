"""Reports of storage targets given out: who uses which, how full they are, what the I/O of each costs."""
