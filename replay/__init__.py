import goldrush.version  # noqa: F401  # another `goldrush` is told, though it lies over `__init__`

if __name__ != "goldrush.replay":  # a second copy of every class, by another name
    raise ImportError("import goldrush.replay: the folder replay/ is not a package of its own")
