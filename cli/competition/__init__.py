"""Commands that only the competition has."""
