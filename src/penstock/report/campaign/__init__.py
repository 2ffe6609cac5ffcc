"""Reports of campaigns: tables with intervals, plots against a setting, two metrics against each other, a page."""
