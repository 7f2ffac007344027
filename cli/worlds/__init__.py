"""Commands of one built-in world alone, one package for each."""
