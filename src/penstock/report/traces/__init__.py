"""Reports of what is in logs."""
