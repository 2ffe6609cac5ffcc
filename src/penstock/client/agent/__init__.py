"""The agent of a node: one process and one connection for all jobs of the node that do not ask by themselves.

- `phase_watch`: where phases begin and end that nobody announced. No clock, no segment.
- `node_job`: one job on this node: a member of the controller's, its segment, its phases. Start reading here.
- `agent`: all jobs of the node and the lanes of their members in one connection; events in, outputs out.
- `node`: the process: spool, segments, selector, signals. `connection`: dialling and being let in.
- `bypass`: what a job moved by the kernel's count that its segment knows nothing of.
"""
