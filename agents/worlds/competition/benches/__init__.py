"""The benches of goldrush's own arenas: one module each, with its `BENCH`."""
