"""Commands that run a program behind `--`."""
