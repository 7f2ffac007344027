import os
from os.path import dirname

if __name__ != "goldrush.kernel":  # a second copy of every class, by another name
    raise ImportError("import goldrush.kernel: the folder kernel/ is not a package of its own")

__version__ = "0.2.0"  # pyproject.toml reads it here: a checkout that is not installed has one too


def _refuse_the_other_goldrush(folder: str) -> None:
    """Raises ImportError if another project's distribution `goldrush` is installed in this folder:
    the two overwrite each other's files, and either fails somewhere.
    """
    try:
        names = os.listdir(folder)
    except OSError:  # inside a zip archive
        return
    for name in names:
        if name.startswith("goldrush-") and name.endswith("-info"):  # goldrush-0.6.0.dist-info
            raise ImportError(
                f"goldrush-sim and the distribution {name.rpartition('.')[0]}, another project, "
                f"overwrite each other in {folder}; type: pip uninstall -y goldrush goldrush-sim "
                "&& pip install goldrush-sim"
            )


_refuse_the_other_goldrush(dirname(dirname(dirname(__file__))))
