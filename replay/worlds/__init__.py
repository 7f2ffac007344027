"""The tools of the built-in worlds, one package for each."""
