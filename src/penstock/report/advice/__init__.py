"""Advice: in words and tables for the terminal, in pictures, and as a page."""
