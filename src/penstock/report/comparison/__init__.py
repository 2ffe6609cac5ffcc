"""Reports of runs and comparisons of sharing policies: tables, plots, the HTML page, a summary in sentences."""
