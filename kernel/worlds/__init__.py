"""The rules of the built-in worlds, one package for each."""
