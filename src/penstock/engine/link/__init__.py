"""The loop of one shared bandwidth. Start reading with `loop`; `execution` prepares it and says what came of it."""
