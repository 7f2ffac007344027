"""Environments and models of other libraries, run, recorded and shown."""
