"""Slurm's accounting: who ran when on how many nodes, and how many bytes it moved, but not when."""
