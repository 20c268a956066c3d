"""Where the laboratory keeps what comes with it, and where it writes what is new."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpgc_lab.journal import StudyJournal

NEW_RESULTS = Path("gpgc-results")
"""Folder for new results, in the folder that a command is started from."""

_PACKAGE = Path(__file__).parent


def stored_results() -> Path:
    """Return the folder of the results that came with the laboratory; it need not exist."""
    return _kept("results")


def stored_features() -> Path:
    """Return the folder of image features that came with the laboratory; it need not exist."""
    return _kept("features")


def _kept(name: str) -> Path:
    """Return a folder of the clone that the laboratory is run from, else of the package."""
    clone = _PACKAGE.parent.parent
    return clone / name if (clone / "pyproject.toml").exists() else _PACKAGE / name


@dataclass(frozen=True)
class StudyFolder:
    """The files of one study: new ones are written to one folder, older ones read from two.

    Attributes
    ----------
    out : Path
        Folder of new files; it need not exist.
    stored : Path
        Folder of what came with the laboratory, which is only read; it need not exist.
    """

    out: Path
    stored: Path

    @classmethod
    def of(cls, results: Path, study: str) -> StudyFolder:
        """Return the folder of a study under the folder of new results."""
        return cls(results / study, stored_results() / study)

    def empty(self) -> StudyFolder:
        """Return the same folder without what came with the laboratory."""
        return StudyFolder(self.out, self.out)

    def find(self, name: str) -> Path | None:
        """Return a file of this study, a new one before a stored one."""
        found = (folder / name for folder in (self.out, self.stored))
        return next((path for path in found if path.exists()), None)

    def journal(self, name: str, fields: tuple[str, ...] = ()) -> StudyJournal:
        """Return the journal of this name: stored records and new ones."""
        return StudyJournal(self.out / name, self.stored / name, fields)
