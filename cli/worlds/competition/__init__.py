"""Commands of the competition world alone."""
