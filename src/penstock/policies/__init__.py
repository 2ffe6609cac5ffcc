"""The five decisions, five alike rooms: sharing, allocation, placement, buffering, mapping. One small file per policy.

- `sharing`: who gets which rate now.
- `allocation`, `placement`: how many storage targets for an application, and which.
- `buffering`: who drains and fetches at which rate behind a burst buffer.
- `mapping`: which jobs together, on which I/O node, and when.

In each room `catalogue` lists our policies by name and `policy` says what one is; `catalogue` here is how any name
becomes a policy: ours, an installed one (entry point groups `penstock.sharing` …), or a function in a user's file.
"""
