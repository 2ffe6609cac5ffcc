"""Programs that penstock is measured against, and the code that builds and runs them."""
