import goldrush.version  # noqa: F401  # another `goldrush` is told, though it lies over `__init__`

if __name__ != "goldrush.agents":  # a second copy of every class, by another name
    raise ImportError("import goldrush.agents: the folder agents/ is not a package of its own")
