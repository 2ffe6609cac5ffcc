"""Slurm: the files that a cluster needs, a check of them, and the bridge that tells the controller what Slurm knows.

- `files` makes hooks, lines of configuration and units from `templates/`; `check` lints them where they are installed,
  and `library` what they preload.
- `bridge` runs beside slurmctld: it forwards the spool, compares with the queue (`queue`) and turns committed bandwidth
  into a reservation of licences (`licenses`). Start reading there.

Nothing here is in the way of a job: with all of it dead, Slurm starts and ends jobs as if penstock were not there.
"""
