"""``python -m gpgc``."""

from gpgc.cli import main

main()
