"""Looking back at a journal: why a job waited and behind whom, and what another policy would have given.

Nothing is imported here: only what tries other policies needs the simulator.
"""
