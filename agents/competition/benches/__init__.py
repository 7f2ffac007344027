"""The benches of the arenas that goldrush brings: one module each, with its `BENCH`."""
