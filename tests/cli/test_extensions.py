"""Commands that other distributions add, and what is said where they are missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpgc.cli import extensions
from gpgc.cli.app import app
from gpgc.errors import InputError
from tests.cli.commands import run

SOURCES = str(Path(__file__).parents[2] / "src")

COMMAND = """
import typer

app = typer.Typer()


@app.command()
def greet(name: str) -> None:
    '''Greet somebody.'''
    typer.echo(f"hello {name}")


def load(name, features, data_dir, seed):
    from dataclasses import replace

    from gpgc.datasets import load_digits

    return replace(load_digits(seed), name=f"{name} {features} {data_dir}")
"""


@pytest.fixture
def added(tmp_path):
    """A distribution that adds ``gpgc greet``, and one command that breaks when it is imported."""
    (tmp_path / "greeting.py").write_text(COMMAND)
    (tmp_path / "broken.py").write_text("raise SystemExit('imported without need')\n")
    metadata = tmp_path / "greeting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[gpgc.commands]\ngreet = greeting:app\nspoil = broken:app\n"
        "[gpgc.datasets]\nsmall_digits = greeting:load\n"
    )
    return tmp_path


def gpgc(*arguments, path, without=()):
    hide = "".join(f"sys.modules[{name!r}] = None; " for name in without)
    code = f"import sys; {hide}sys.argv[0] = 'gpgc'; from gpgc.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), SOURCES])},
        check=False,
    )


def test_a_command_of_another_distribution_runs(added):
    done = gpgc("greet", "you", path=added)
    assert (done.returncode, done.stdout) == (0, "hello you\n"), done.stderr


def test_a_data_set_of_another_distribution_runs(added):
    done = gpgc("run", "small_digits", "--seed", "1", "--json", path=added)
    assert json.loads(done.stdout)["dataset"] == "small_digits", done.stderr


@pytest.mark.parametrize("name", ["cora", "mnist"])
def test_data_sets_of_the_laboratory_are_explained_where_it_is_missing(name, monkeypatch):
    monkeypatch.setattr(extensions, "entry_points", lambda group: [])
    done = run("run", name)
    assert done.returncode == 2
    assert f"{name} is a data set of gpgc-lab" in done.stderr
    assert "`pip install ./lab`" in done.stderr


def test_commands_are_listed_without_being_imported(added):
    listed = gpgc("--help", path=added)
    assert (listed.returncode, "spoil" in listed.stdout) == (0, True)
    assert "imported without need" in gpgc("spoil", path=added).stderr


def test_the_package_never_imports_the_laboratory_nor_what_is_not_called(added):
    without = ("gpgc_lab", "matplotlib", "pooch", "requests")
    done = gpgc("run", "--quiet", path=added, without=without)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["benchmark", "compare", "reproduce", "train"])
def test_what_the_laboratory_adds_is_explained_where_it_is_missing(command, monkeypatch):
    monkeypatch.setattr(extensions, "entry_points", lambda group: [])
    wrong = CliRunner().invoke(app, [command]).exception
    assert isinstance(wrong, InputError)
    assert f"`gpgc {command}`" in str(wrong)
    assert "`pip install ./lab`" in str(wrong)


def test_an_unknown_command_is_unknown(tmp_path):
    done = gpgc("atlantis", path=tmp_path)
    assert done.returncode == 2
    assert "No such command" in done.stderr
