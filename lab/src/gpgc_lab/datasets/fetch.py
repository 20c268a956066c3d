"""Where data files are looked for, and how they are downloaded: verified, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpgc.errors import DataError, InputError

_VARIABLE = "GPGC_DATA"
_CONNECT_SECONDS, _READ_SECONDS = 10, 60
_LARGEST_FILE = 512 * 2**20
_BLOCK = 2**20


class UnreachableError(DataError):
    """A host that does not answer, or not with the file; another source may still have it."""


@dataclass(frozen=True)
class Remote:
    """A file on the network with the SHA-256 of its content."""

    url: str
    sha256: str


def find_folder(
    kind: str, names: Iterable[str], data_dir: str | os.PathLike[str] | None
) -> Path | None:
    """Find the folder that holds all files: in `data_dir`, then in ``GPGC_DATA``.

    Parameters
    ----------
    kind : str
        The folder under the root that such files belong in; they may also lie in the root.
    names : iterable of str
        Paths relative to that folder.
    data_dir : path-like, optional
        The root given by the user.

    Returns
    -------
    Path or None
        None where neither place has them all.
    """
    wanted = list(names)
    for root in _roots(data_dir):
        for folder in (root / kind, root):
            if all((folder / name).is_file() for name in wanted):
                return folder
    return None


def find_cached(kind: str, files: Mapping[str, Remote]) -> Path | None:
    """Find the files in the user's cache, each with the content that was published."""
    folder = cache_folder(kind)
    if all(has_content(folder / name, remote.sha256) for name, remote in files.items()):
        return folder
    return None


def download(kind: str, files: Mapping[str, Remote]) -> Path:
    """Download into the user's cache what is not there yet, and return the folder.

    Raises
    ------
    UnreachableError
        If a host does not deliver.
    DataError
        If what it delivers is not the published content, or cannot be stored.
    """
    folder = cache_folder(kind)
    for name, remote in files.items():
        _retrieve(remote, folder / name)
    return folder


def _retrieve(remote: Remote, target: Path) -> None:
    """Download one file to `target`, unless it is there; a failure leaves nothing behind."""
    import pooch

    try:
        pooch.retrieve(
            remote.url,
            known_hash=f"sha256:{remote.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=_transfer,
        )
    except ValueError as error:
        raise DataError(
            f"{remote.url}: the content that came does not have the published SHA-256 "
            f"{remote.sha256}; nothing was kept"
        ) from error
    except OSError as error:
        raise DataError(f"{target}: the download failed ({error})") from error


def _transfer(url: str, output_file: str, _: object) -> None:
    """Copy what `url` has into a file, unless it is larger than any that is published."""
    import requests

    # a compressed file is to arrive as it is, not unpacked on the way
    headers = {"Accept-Encoding": "identity"}
    waiting = (_CONNECT_SECONDS, _READ_SECONDS)
    received = 0
    try:
        with (
            open(output_file, "wb") as output,
            requests.get(url, stream=True, timeout=waiting, headers=headers) as response,
        ):
            response.raise_for_status()
            for block in response.iter_content(_BLOCK):
                received += len(block)
                if received > _LARGEST_FILE:
                    raise DataError(f"{url}: more than {_LARGEST_FILE} bytes came; refused")
                output.write(block)
    except requests.RequestException as error:
        raise UnreachableError(f"{url} cannot be fetched ({type(error).__name__})") from error


def cache_folder(kind: str) -> Path:
    """Return the folder for files of this kind in the user's cache; it need not exist."""
    import pooch

    return Path(pooch.os_cache("gpgc")) / kind


def has_content(path: Path, sha256: str) -> bool:
    """Tell whether `path` is a file with this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def missing(what: str, kind: str, names: Iterable[str], reason: str) -> DataError:
    """Return the error that says which files are missing, why, and where to put them."""
    return DataError(
        f"{what} is not on this machine ({reason}): put {', '.join(names)} into the folder "
        f"{kind}/ of a directory and give that directory as data_dir or in the environment "
        f"variable {_VARIABLE}"
    )


def _roots(data_dir: str | os.PathLike[str] | None) -> Iterator[Path]:
    for name, directory in (("data_dir", data_dir), (_VARIABLE, os.environ.get(_VARIABLE))):
        if directory:
            if not Path(directory).is_dir():
                raise InputError(f"{name}: expected an existing directory, got {directory!r}")
            yield Path(directory)
