"""A second controller that takes over: at any time at most one of them leads, by a lease in a folder that both see."""
