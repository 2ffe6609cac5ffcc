"""Reports of advice: words and tables for the terminal, pictures, and a page."""
