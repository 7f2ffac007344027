"""Seasons of the competition world: told, audited, compared, exported."""
