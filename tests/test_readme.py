"""The README's Python runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(code, {})
    assert "left" in capsys.readouterr().out


def test_ci_runs_the_commands_of_the_readme():
    script = (README.parent / ".ci" / "run").read_text().replace("--quiet ", "")
    for command in re.findall(r"```sh\n(pip install .*?)\n```", README.read_text()):
        assert command in script
