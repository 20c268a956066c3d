"""Packages that only images need, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gpgc.errors import InputError


def import_extra(module: str, package: str) -> Any:
    """Import a module, or say which package has to be installed for it.

    Examples
    --------
    >>> import_extra("json", "json").dumps([1])
    '[1]'
    >>> import_extra("no_such_module", "gpgc[images]")
    Traceback (most recent call last):
    gpgc.errors.InputError: no_such_module must be installed for this: pip install "gpgc[images]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise InputError(f'{module} must be installed for this: pip install "{package}"') from error
