"""Reports of the smallest burst buffer: its size, its parts, and why it cannot be smaller."""
