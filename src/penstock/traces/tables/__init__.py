"""Tables of what jobs moved when: transfers, time series, Lustre's job_stats and Prometheus' range exports.

Each reader gives `Moved` (rows of job, start, end, bytes, direction); `importing.import_table` picks the reader by
what a file looks like and makes jobs of the rows.
"""
