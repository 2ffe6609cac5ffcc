"""Reports of a recommendation: which policy for a goal, and by how much it is better."""
