from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpgc.datasets import pip_settings as module
from gpgc.datasets.pip_settings import PipSettings, configuration_files, pip_settings
from gpgc.errors import DataError

PYPI = "https://pypi.org/simple"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two configuration files in place of pip's own, the second overriding the first."""
    for variable in list(os.environ):
        if variable.startswith("PIP_"):
            monkeypatch.delenv(variable)
    paths = [tmp_path / "shared.conf", tmp_path / "personal.conf"]
    monkeypatch.setattr(module, "configuration_files", lambda: paths)
    return paths


def test_the_public_index_is_the_default(files: list[Path]) -> None:
    assert pip_settings() == PipSettings((PYPI,), None, None)


def test_files_are_read_in_order_and_names_are_normalised(files: list[Path]) -> None:
    files[0].write_text("[global]\nindex-url = https://a/simple\ncert = /a.pem\n")
    files[1].write_text("[global]\nindex_url = https://b/simple\nextra-index-url =\n  c\n  d\n")
    assert pip_settings() == PipSettings(("https://b/simple", "c", "d"), "/a.pem", None)


def test_the_section_of_the_command_overrides_the_global_one(files: list[Path]) -> None:
    files[0].write_text("[install]\nindex-url = https://a/simple\n")
    files[1].write_text("[global]\nindex-url = https://b/simple\n[list]\nindex-url = x\n")
    assert pip_settings().indexes == ("https://a/simple",)


def test_variables_override_files_unless_empty(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files[0].write_text("[global]\nindex-url = https://a/simple\nproxy = http://p\n")
    monkeypatch.setenv("PIP_INDEX_URL", "https://v/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://w/simple  https://x/simple")
    monkeypatch.setenv("PIP_CERT", "/v.pem")
    monkeypatch.setenv("PIP_PROXY", "")
    assert pip_settings() == PipSettings(
        ("https://v/simple", "https://w/simple", "https://x/simple"), "/v.pem", "http://p"
    )


@pytest.mark.parametrize(("value", "indexes"), [("1", ()), ("true", ()), ("0", (PYPI,))])
def test_pip_may_be_told_to_use_no_index(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, value: str, indexes: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", value)
    assert pip_settings().indexes == indexes


def test_a_broken_file_is_named(files: list[Path]) -> None:
    files[0].write_text("index-url without a section")
    with pytest.raises(DataError, match=r"shared\.conf"):
        pip_settings()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="places of Linux")
def test_the_places_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", "/etc/xdg:/opt/xdg")
    for variable in ("XDG_CONFIG_HOME", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(variable, raising=False)
    shared = [Path("/etc/xdg/pip/pip.conf"), Path("/opt/xdg/pip/pip.conf"), Path("/etc/pip.conf")]
    personal = [tmp_path / ".pip/pip.conf", tmp_path / ".config/pip/pip.conf"]
    site = [Path(sys.prefix) / "pip.conf"]
    assert configuration_files() == shared + personal + site

    chosen = tmp_path / "chosen.conf"
    monkeypatch.setenv("PIP_CONFIG_FILE", str(chosen))
    assert configuration_files() == shared + personal + site + [chosen]
    chosen.touch()
    assert configuration_files() == shared + site + [chosen]
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert configuration_files() == []
