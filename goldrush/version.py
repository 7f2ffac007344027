"""The version of the distribution, and a guard: no other one lies over it.

Not in `goldrush/__init__.py`: the other one overwrites it if it is installed second, and else an
error there would come before the command can tell it in one line. The rooms import this module.
"""

import os
from os.path import dirname

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


_refuse_the_other_goldrush(dirname(dirname(__file__)))
