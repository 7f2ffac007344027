"""`python -m cli`: the command line where the `goldrush` script is not installed."""

from cli.main import main

main()
