"""Episodes: environments and models of other libraries, recorded as they were run."""
