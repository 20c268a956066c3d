"""The package index that the user's pip is configured for, without pip."""

from __future__ import annotations

import configparser
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from gpgc.errors import DataError

_PYPI = "https://pypi.org/simple"
_SECTIONS = ("global", "install")
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class PipSettings:
    """What pip would use to reach package indexes.

    Attributes
    ----------
    indexes : tuple of str
        URLs (or local directories) of simple indexes, the main one first.
    certificates : str or None
        File or folder of certificates that pip trusts instead of its own.
    proxy : str or None
        Proxy for all requests.
    """

    indexes: tuple[str, ...]
    certificates: str | None
    proxy: str | None


def pip_settings() -> PipSettings:
    """Read pip's settings in pip's order: files, then sections, then environment variables."""
    options: dict[str, str] = {}
    files = [_read(path) for path in configuration_files()]
    for section in _SECTIONS:
        for parser in files:
            if parser.has_section(section):
                for key, value in parser.items(section):
                    options[key.replace("_", "-")] = value
    for key, value in os.environ.items():
        if key.startswith("PIP_") and value:
            options[key.removeprefix("PIP_").lower().replace("_", "-")] = value

    indexes = (
        options.get("index-url") or _PYPI,
        *options.get("extra-index-url", "").split(),
    )
    without_index = options.get("no-index", "").strip().lower() not in _FALSE
    return PipSettings(
        indexes=() if without_index else indexes,
        certificates=options.get("cert") or None,
        proxy=options.get("proxy") or None,
    )


def configuration_files() -> list[Path]:
    """Return where pip looks for its configuration, the overriding file last."""
    chosen = os.environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return []
    home = Path.home()
    if sys.platform == "win32":
        name = "pip.ini"
        shared = [Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData")) / "pip"]
        roaming = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
        personal = [home / "pip", roaming / "pip"]
    elif sys.platform == "darwin":
        name = "pip.conf"
        shared = [Path("/Library/Application Support/pip")]
        support = home / "Library" / "Application Support" / "pip"
        personal = [home / ".pip", support if support.is_dir() else home / ".config" / "pip"]
    else:
        name = "pip.conf"
        system = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
        shared = [*(Path(root) / "pip" for root in system.split(os.pathsep)), Path("/etc")]
        configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        personal = [home / ".pip", configuration / "pip"]
    # a file that the user names takes the place of the personal ones
    if chosen and Path(chosen).is_file():
        personal = []
    folders = [*shared, *personal, Path(sys.prefix)]
    return [folder / name for folder in folders] + ([Path(chosen)] if chosen else [])


def _read(path: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a configuration file that pip could read") from error
    return parser
