import goldrush.version  # noqa: F401  # refuses another `goldrush` that overwrote `__init__`

if __name__ != "goldrush.replay":  # a second copy of every class, by another name
    raise ImportError("import goldrush.replay: the folder replay/ is not a package of its own")
