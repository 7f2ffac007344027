"""Where the program begins: `goldrush`, and `python -m goldrush` without the script."""

import gc
import sys
from os.path import dirname

if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != dirname(dirname(__file__)):
    # For `-m`, Python puts the working folder first: a `random.py` that lies there would be run in
    # the place of its own. That folder is of use only where these packages lie in it.
    del sys.path[0]


YOUNG = 50_000  # new objects after which garbage is looked for (Python: 700 or 2,000)


def main() -> None:
    """Import the command line and run it; Ctrl-C while it is imported is Ctrl-C too.

    Nearly all objects that exist before a command does its work are modules and classes, which
    stay. Searching them for garbage, repeatedly and once more at the end, takes an eighth of the
    time of a short command.
    """
    gc.set_threshold(YOUNG)
    try:
        from goldrush.cli.main import main as run

        run()
    except KeyboardInterrupt:
        from goldrush.cli.codes import INTERRUPTED

        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # or the interpreter would search all objects once more at its end


if __name__ == "__main__":
    main()
