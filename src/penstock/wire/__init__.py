"""Wire: what controller and clients have in common. Light, because it is imported into jobs.

- `messages`: what they say to each other, and its form in bytes. Start reading here.
- `tokens`: how a job on another machine shows who it is.
"""
