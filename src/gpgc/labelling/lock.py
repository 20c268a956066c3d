"""One session a journal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from gpgc.errors import InputError


def lock_beside(path: Path) -> IO[bytes]:
    """Hold a lock file beside a journal; it ends with the returned file, or with the process.

    Raises
    ------
    InputError
        If another session holds it.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> held = lock_beside(Path(mkdtemp()) / "labels.jsonl")
    >>> held.close()
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f".{path.name}.lock").open("ab")
    if os.name != "posix":
        return file
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InputError(f"{path} is open in another gpgc label") from error
    return file
