"""Every graph data set by name."""

from __future__ import annotations

from pathlib import Path

from gpgc.datasets.dataset import Dataset
from gpgc.datasets.digits import load_digits
from gpgc.datasets.planetoid import load_planetoid
from gpgc.errors import InputError

NAMES = ("digits", "cora", "citeseer", "pubmed")


def load_dataset(name: str, data_dir: str | Path | None = None, seed: int = 0) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : {"digits", "cora", "citeseer", "pubmed"}
        Which one.
    data_dir : str or Path, optional
        Where to look first.
    seed : int
        Of the split, where it is drawn; the citation networks have their public one.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_dataset("digits").name
    'digits'
    """
    if name not in NAMES:
        raise InputError(f"dataset must be one of {', '.join(NAMES)}, got {name!r}")
    return load_digits(seed) if name == "digits" else load_planetoid(name, data_dir)
