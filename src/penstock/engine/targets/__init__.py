"""The loop on many storage targets: an operation is several transfers. Start reading with `stripes`, then `loop`."""
