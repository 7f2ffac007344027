"""Measures and tables of journals."""
