"""Changes the code a little, one place at a time, and tells which changes no test notices.

`mutants` makes the changes, `trial` runs tests against one of them in a forked process, `targets` says which modules
are tried and which tests should notice, `__main__` spends a budget of time and prints the survivors. Kernels run as
plain Python meanwhile, so that a change takes effect without being compiled.
"""
