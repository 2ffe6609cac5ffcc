"""Reports of the live controller: who moves what now, and what a journal tells."""
