"""The package as a whole: light imports, frameworks kept out of the core."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpgc


def imported_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_files_are_below_everything_else():
    assert not imported_by("import gpgc.files") & {"sklearn", "threadpoolctl", "pandas", "pyarrow"}
    folder = Path(gpgc.__file__).parent / "files"
    for path in folder.glob("*.py"):
        modules = re.findall(r"^\s*(?:from|import) gpgc\.(\w+)", path.read_text(), re.MULTILINE)
        assert set(modules) <= {"errors", "files"}, path.name


@pytest.mark.parametrize(
    "statement", ["import gpgc", "import gpgc.kernels, gpgc.compute, gpgc.gp, gpgc.models"]
)
def test_the_core_needs_only_numpy_scipy_and_threadpoolctl(statement):
    forbidden = {"sklearn", "matplotlib", "torch", "torch_geometric", "rich", "typer", "networkx"}
    assert not imported_by(statement) & forbidden


def test_estimators_and_command_line_never_import_torch():
    assert "torch" not in imported_by("import gpgc.estimators, gpgc.cli, gpgc.datasets")


def test_help_is_quick():
    assert not imported_by("import gpgc.cli.app") & {"numpy", "scipy", "sklearn", "gpgc_lab"}


def test_a_command_imports_no_module_that_only_scikit_learn_asks_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "labels.csv").write_text("id,label\na,x\nc,y\n")
    files = ["--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"]
    code = "import sys; from gpgc.cli.app import app; app(sys.argv[1:], standalone_mode=False)"
    after = "; import gpgc; print(*sys.modules); import scipy; scipy.stats.norm; import pandas"
    run = [sys.executable, "-c", code + after, "classify", "--quiet", *files]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    unused = {"pandas", "scipy.stats", "gpgc.labelling", "gpgc.report"}
    assert not unused & set(done.stdout.split())


def test_public_names():
    for name in gpgc.__all__:
        assert getattr(gpgc, name) is not None
    assert set(gpgc.__all__) == set(dir(gpgc))
    with pytest.raises(AttributeError, match="nothing"):
        _ = gpgc.nothing


def test_the_package_is_typed():
    assert (Path(gpgc.__file__).parent / "py.typed").exists()
