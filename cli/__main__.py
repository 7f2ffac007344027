"""Where the program begins: `goldrush`, and `python -m cli` where that script is not installed."""

import sys


def main() -> None:
    """Import the command line and run it; Ctrl-C while it is imported is Ctrl-C too."""
    from cli.codes import INTERRUPTED

    try:
        from cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
