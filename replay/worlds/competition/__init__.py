"""Tools for seasons: stories, audits, comparisons, measures, tables, exports."""
