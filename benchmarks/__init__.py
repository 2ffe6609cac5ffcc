"""What is promised about speed, as ratios measured in one run."""
