"""The client's preloaded library in C, for programs that do not ask: its source, how it is compiled, and where it is.

`segment.h` is what it shares with Python and says how paying works; then `pay.c`, `files.c` (which descriptors),
`calls.c` (reads and writes), `streams.c` and `text.c` (stdio), `names.c` (operations on names), `ends.c` (the
ends of processes). `strict.c` is another way to ask before calls, for programs that load no library, which `penstock
run --strict` uses. `penstock.h` and `penstock.f90` are for programs that say what they do; `compiling` and `library`
are how the library comes about.
"""
