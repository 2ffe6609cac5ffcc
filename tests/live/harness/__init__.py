"""A world in virtual time for the controller and its clients: true time, drifting clocks, a bad network, crashes.

Nothing here sleeps, and every run is a function of its seed. `world.World` puts the parts together; `judge.Judge` looks
at it after every step and knows, unlike anybody inside, what each client really does.
"""
