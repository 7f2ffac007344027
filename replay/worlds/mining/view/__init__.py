"""The mining world on the page of a run."""
