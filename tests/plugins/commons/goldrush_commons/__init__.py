"""A shared fishery: agents harvest from a stock of fish that regrows."""
