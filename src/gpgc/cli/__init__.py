"""The command line: thin, every command a few lines around the library."""

from gpgc.cli.app import main

__all__ = ["main"]
