"""Reports of bandwidth profiles."""
