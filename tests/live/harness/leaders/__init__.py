"""Several controllers of which one leads, in virtual time: the real rules of the lease, a slow folder, and pauses."""
