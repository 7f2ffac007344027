"""The competition on the page of a run."""
