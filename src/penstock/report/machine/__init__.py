"""Reports of the whole machine: what planning found, and where bytes are.

- `planned`: a plan as a table of decisions, and in words.
- `stages`: what bytes pass, and what is called a bottleneck; `picture` draws it with matplotlib, `passage_element` for
  pages, in which it lies in `page`; `resources`: the busiest resource of each kind, in a line.
"""
