"""Recorded programs: how they are run again, and what tools show of them."""
