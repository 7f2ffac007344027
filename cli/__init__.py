if __name__ != "goldrush.cli":  # a second copy of every class, by another name
    raise ImportError("import goldrush.cli: the folder cli/ is not a package of its own")
