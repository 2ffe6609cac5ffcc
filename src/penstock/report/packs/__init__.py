"""Reports of jobs packed on I/O nodes."""
