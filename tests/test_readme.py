"""The README's Python runs as it stands."""

import re
from pathlib import Path

from gpgc import GPGCClassifier
from gpgc.cli.app import app
from gpgc.models import REGISTRY as NETWORKS
from gpgc.models.view import VIEWS as KNOWN

README = Path(__file__).parent.parent / "README.md"
REGISTRY, VIEWS = tuple(NETWORKS), tuple(KNOWN)  # other tests add to them


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(code, {})
    assert "left" in capsys.readouterr().out


def test_ci_runs_the_commands_of_the_readme():
    script = (README.parent / ".ci" / "run").read_text()
    pages = README.read_text() + (README.parent / "CONTRIBUTING.md").read_text()
    commands = re.findall(r"```sh\n(pip install .*?)\n```", pages)
    assert len(commands) >= 5
    for command in commands:
        assert command in script


def test_commands_exist_and_are_in_the_reference():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    used = set(re.findall(r"^gpgc (\w+)", README.read_text(), re.MULTILINE))
    assert used <= known
    reference = (README.parent / "docs" / "reference" / "commands.md").read_text()
    assert not {name for name in known if f"`gpgc {name}`" not in reference}


def test_networks_and_views_are_in_the_documentation():
    networks = {name for name in REGISTRY if f'``"{name}"``' not in GPGCClassifier.__doc__}
    assert networks == {"precomputed"}  # an object, which has its own matrix
    theory = (README.parent / "docs" / "theory.md").read_text()
    assert not {name for name in VIEWS if f"*{name}*" not in theory}


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert target.startswith("https://") or (README.parent / target).exists(), target
