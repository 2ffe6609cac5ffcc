"""Real applications on a link that they really contend for, with a real controller, against the simulator's word.

`scripts/link-up.sh` makes the link; every application is a process with a source address of its own that PUTs bytes
through it at the rate that `penstock.client` is granted. `python -m tests.live.link` measures all there is to measure.
"""
