import goldrush.version  # noqa: F401  # refuses another `goldrush` that overwrote `__init__`

if __name__ != "goldrush.agents":  # a second copy of every class, by another name
    raise ImportError("import goldrush.agents: the folder agents/ is not a package of its own")
