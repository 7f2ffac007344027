"""Damage, systematic and counted: what is done to a file, and what every reader then says of it."""
