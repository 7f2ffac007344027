"""A package for goldrush: a fishery, a policy for the mining world, a command."""
