"""The command line. Importing this package is quick: :func:`main` imports the rest.

Ctrl-C is minded before anything large is imported. Libraries turn an interrupt in the middle of
their import into errors of their own, or drop it, so the process is ended there at once.
"""

import gc
import os
import signal
import sys
from types import FrameType

__all__ = ["main"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report it: 128 + SIGINT."""

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def main() -> None:
    """Run the command line; wrong input ends with one sentence and exit code 2, Ctrl-C with 130."""
    try:
        signal.signal(signal.SIGINT, _interrupt)
        from gpgc.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, _end)  # what is left to do is not worth a traceback
        gc.freeze()  # nor is a search for garbage at the end, a sixth of a short command


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but end the process where a module is being imported."""
    caller = frame
    while caller is not None:
        if caller.f_code.co_filename == _IMPORT_SYSTEM:
            _end(number, frame)
        caller = caller.f_back
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    """End the process without any cleaning up; what was printed stays printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, RuntimeError, ValueError):  # closed, or in use when the signal came
            continue
    os._exit(INTERRUPTED)
