"""Classic games, each one class in one file, with published figures beside its own."""
