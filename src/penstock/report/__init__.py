"""Reports: what came of a study, as tables for a terminal, plots, HTML pages and sentences; they compute no results.

One room per subject (`comparison`, `recommendation`, `campaign`, `packs`, `targets`, `sizing`, `buffers`, `profiles`,
`live`), each with its `table`, its `plot` and, where there is one, its `page`. What they share is in `parts`: the
theme, quantities with units, tables that fit, elements of pages. `plots` saves figures. Start with `comparison.table`.
"""
