"""Writing a file whole or not at all, and into what is no regular file as it is."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from gpgc.errors import InputError


def write_file(path: str | os.PathLike[str], content: bytes, *, sync: bool = False) -> None:
    """Write a file by renaming, so that nobody sees half of it; with `sync` it is then on disk.

    A link stays, a mode is kept; a device, a FIFO or an open descriptor is written into.
    """
    given = Path(path)
    mode = _mode(given)
    if mode is not None and stat.S_ISDIR(mode):
        raise InputError(f"path must be a file, got the folder {given}")
    if _is_descriptor(given) or (mode is not None and not stat.S_ISREG(mode)):
        with given.open("ab") as file:
            file.write(content)
        return
    target = Path(os.path.realpath(given))
    if not target.parent.is_dir():
        raise InputError(f"path must lie in a folder that exists, got {given}")
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666 if mode is None else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
        if sync:
            sync_folder(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mode(path: Path) -> int | None:
    """Return the mode of what a path leads to, None where there is nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _is_descriptor(path: Path) -> bool:
    """Return whether a path names an open descriptor, such as /dev/stdout or /dev/fd/3."""
    named = os.readlink(path) if path.is_symlink() else ""
    return any(str(name).startswith(("/proc/self/fd/", "/dev/fd/")) for name in (path, named))
