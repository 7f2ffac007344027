"""Peers for the benchmarks, what the project's numbers are ratios against, and their clock."""
