"""The controller on a screen: a process of its own that looks once a second and shows it to any number of browsers.

It only looks: there is no way through it to change anything. Start reading with `server`.

- `poll`: one connection of an operator, asked once a second for all viewers; `recent`: the last minutes of answers.
- `view`: what one viewer is told, in words and numbers; `forecast`: when phases begin and end; `viewers`: who that is,
  and whose names may be shown.
- `http`, `server`, `page`: requests, server-sent events, and the one page, with all that it needs inside.
- `questions`, `answering`: history, explanations and comparisons, from the journal by another process.
"""
