"""The loop with a burst buffer (P5). Start reading with `arrays`, then `rules` (one application), then `loop`."""
