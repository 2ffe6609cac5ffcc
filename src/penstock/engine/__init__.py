"""The engine: a scenario compiled into flat arrays, and loops that let time pass from event to event.

- `compile` makes a `program` of a scenario; `foresight` is what policies that plan ahead are told of it.
- Three loops, each fast at one kind of machine: `link` (one shared bandwidth, or I/O nodes that do not disturb each
  other), `targets` (many storage targets) and `tier` (a burst buffer in front of the file system); and `machine`, for
  all of these at once. In each, `loop` is the kernel and `execution` its Python face.
- `dedicated`: what every application would do alone, which policies may know before the start.
- What loops share: `rows` (the View of a policy), `stepping` (from stop to stop), `timeline`.

Imports policies and the model; never metrics, studies or live. Start reading with `program`, then `link.loop`.
"""
