import sys

if __name__ != "goldrush.cli":  # a second copy of every class, by another name
    raise ImportError("import goldrush.cli: the folder cli/ is not a package of its own")

try:
    import goldrush.version  # noqa: F401
except ImportError as error:  # another `goldrush` is installed: one line, whosever script runs
    print(f"goldrush: {error}", file=sys.stderr)
    sys.exit(2)
