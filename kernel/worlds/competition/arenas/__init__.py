"""The rules of the built-in arenas: one module each, with its `ARENA`."""
