"""What all reports are made of: theme, quantities, tables that fit, time axes, elements of an HTML page."""
