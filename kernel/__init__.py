if __name__ != "goldrush.kernel":  # a second copy of every class, by another name
    raise ImportError("import goldrush.kernel: the folder kernel/ is not a package of its own")
