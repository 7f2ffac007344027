"""A report of a study: one page, worked out from its journals alone."""
