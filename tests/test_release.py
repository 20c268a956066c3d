"""What a release needs: one version, a citation, pinned workflows, a recipe, listed pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import hypothesis
import pytest

import gpgc

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra test brings")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.skipif(
    not (ROOT / ".github").exists(), reason="a source distribution holds less than the repository"
)


def read(name: str) -> str:
    return (ROOT / name).read_text()


def parsed(path: Path) -> dict:
    """Return a YAML file as it is written: `on` stays a word."""
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def lower_bounds() -> dict[str, str]:
    pairs = (re.match(r"([\w-]+)>=([\d.]+)", entry) for entry in PROJECT["dependencies"])
    return {found[1]: found[2] for found in pairs}


# One version


def test_the_version_is_written_in_one_place():
    places = [
        path
        for path in ("pyproject.toml", "lab/pyproject.toml", "CITATION.cff", "mkdocs.yml")
        if gpgc.__version__ in read(path)
    ]
    assert not places
    for project in ("pyproject.toml", "lab/pyproject.toml"):
        settings = tomllib.loads(read(project))
        assert settings["project"]["dynamic"] == ["version"]
        source = (ROOT / project).parent / settings["tool"]["hatch"]["version"]["path"]
        assert f'__version__ = "{gpgc.__version__}"' in source.read_text()


def test_the_changelog_begins_with_the_version():
    number = re.match(r"\d+\.\d+\.\d+", gpgc.__version__)[0]
    first = re.search(r"^## \[?([\d.]+)", read("CHANGELOG.md"), re.MULTILINE)
    assert first[1] == number


# Citation


def test_the_citation_names_the_software_and_the_paper():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["title"] == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    assert citation["message"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert not {"version", "date-released"} & set(citation), "the version has a place already"
    (paper,) = citation["references"]
    assert paper["type"] in ("article", "report")
    assert paper["title"].startswith("Infinitely Wide Graph Convolutional Networks")
    assert all(author["family-names"] and author["given-names"] for author in paper["authors"])
    (arxiv,) = paper["identifiers"]
    assert arxiv["value"].removeprefix("arXiv:") in read("README.md")


# Files that a host shows


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md", "SKILL.md"]
)
def test_links_of_a_page_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#]+)\)", read(name)):
        found = ((ROOT / name).parent / target).exists()
        assert target.startswith("https://") or found, target


def test_forms_for_issues_ask_for_what_is_needed():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert {form.stem for form in forms} == {"bug", "config", "idea"}
    for form in forms:
        if form.stem == "config":
            continue
        fields = yaml.safe_load(form.read_text())
        assert {"name", "description", "body"} <= set(fields)
        names = [part["id"] for part in fields["body"] if part["type"] != "markdown"]
        assert len(names) == len(set(names)) >= 2
    bug = read(".github/ISSUE_TEMPLATE/bug.yml")
    assert "gpgc --version" in bug


# Workflows


def steps_of(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text())
    assert used
    for action, comment in used:
        if action.startswith("./"):
            continue
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action} must name its version"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_permissions_are_least(path):
    workflow = parsed(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        more = {scope for scope, right in job.get("permissions", {}).items() if right == "write"}
        assert more <= {"deploy": {"pages", "id-token"}, "publish": {"id-token"}}.get(name, set())
    for step in steps_of(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"


def test_tests_run_on_all_systems_with_all_promised_versions():
    matrix = parsed(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["test"]["strategy"]
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text]
    assert matrix["matrix"]["python"] == named
    systems = {name.partition("-")[0] for name in matrix["matrix"]["system"]}
    assert systems == {"ubuntu", "macos", "windows"}


def test_a_release_calls_the_tests_and_publishes_what_they_built():
    release = parsed(ROOT / ".github" / "workflows" / "release.yml")
    assert set(release["on"]) == {"push"}
    assert release["on"]["push"] == {"tags": ["v*"]}
    assert release["jobs"]["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert "workflow_call" in parsed(ROOT / ".github" / "workflows" / "tests.yml")["on"]
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert {"tests", "version"} <= set(publish["needs"])
    assert "secrets." not in read(".github/workflows/release.yml")


def test_the_wheel_is_built_checked_and_tried():
    steps = parsed(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["wheel"]["steps"]
    for said in ("\n".join(step.get("run", "") for step in steps), read(".ci/run")):
        for command in ("python -m build", r"twine check --strict \S*dist/\*", "bin/gpgc run"):
            assert re.search(command, said), command


def test_examples_are_the_same_but_for_a_weekly_job():
    workflow = parsed(ROOT / ".github" / "workflows" / "random.yml")
    assert set(workflow["on"]) == {"schedule", "workflow_dispatch"}
    assert "--hypothesis-profile=random" in steps_of(workflow)[-1]["run"]
    assert hypothesis.settings.get_profile("same").derandomize
    assert not hypothesis.settings.get_profile("random").derandomize


def test_coverage_is_one_job_with_a_floor():
    counted = [path.stem for path in WORKFLOWS if "--cov" in path.read_text()]
    assert counted == ["tests"]
    assert read(".github/workflows/tests.yml").count("--cov") == 1
    assert "--cov" not in read(".ci/run") + read("README.md")
    settings = tomllib.loads(read("pyproject.toml"))["tool"]["coverage"]
    assert settings["run"]["branch"]
    assert settings["report"]["fail_under"] >= 90


def test_dependabot_watches_actions_and_packages():
    updates = yaml.safe_load(read(".github/dependabot.yml"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}


# Versions that are supported


def test_the_lowest_versions_are_the_bounds():
    lines = [line for line in read(".ci/lowest.txt").splitlines() if not line.startswith("#")]
    pinned = dict(line.split("==") for line in lines)
    for name, lowest in lower_bounds().items():
        assert [*map(int, pinned[name].split("."))][:2] == [
            *map(int, f"{lowest}.0".split(".")[:2])
        ], name


def test_the_installation_page_states_the_bounds():
    page = read("docs/installation.md")
    assert "SPEC 0" in page
    rows = dict(re.findall(r"^\| (\S+) \| ([\d.]+) \|", page, re.MULTILINE))
    assert rows == {"Python": PROJECT["requires-python"].removeprefix(">="), **lower_bounds()}


def test_the_recipe_asks_for_what_the_package_asks_for():
    text = read("packaging/conda/recipe.yaml")
    recipe = yaml.safe_load(text)
    wanted = {re.split("[<>=]", entry)[0]: entry for entry in PROJECT["dependencies"]}
    run = recipe["requirements"]["run"]
    asked = {entry.partition(" ")[0]: entry.replace(" ", "") for entry in run if " " in entry}
    assert asked.pop("python") == f"python{PROJECT['requires-python']}"
    assert asked == wanted
    assert recipe["about"]["license"] == PROJECT["license"]
    assert gpgc.__version__ not in text


# The index of the documentation


def test_every_page_is_in_the_index_for_assistants():
    index = read("docs/llms.txt")
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S", index, re.MULTILINE)
    assert sorted(listed) == sorted(pages)
    assert index.startswith("# gpgc\n\n> ")


# The script of CI


def test_a_step_of_ci_that_fails_ends_it():
    script = read(".ci/run")
    assert "set -euo pipefail" in script
    assert "||" not in script
    assert "--last-failed" not in script
    function = re.search(r"^step\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL)[0]
    for failing in ("false && true", "true && false", "false | cat", "false; true"):
        lines = f"set -euo pipefail\n{function}\nstep '{failing}'\necho reached"
        done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False)
        assert done.returncode == 1, failing
        assert "reached" not in done.stdout
    steps = "\n".join(line for line in script.splitlines() if not line.startswith("#"))
    for tool in ("pip install", "pytest", "mypy", "ruff", "mkdocs"):
        for line in steps.splitlines():
            assert tool not in line or re.search('(step|together) "', line), line


def test_steps_that_run_at_once_are_all_told_and_one_that_fails_ends_ci(tmp_path):
    (tmp_path / ".venv").mkdir()
    functions = re.findall(r"^\w+\(\) \{.*?^\}", read(".ci/run"), re.MULTILINE | re.DOTALL)
    before = "\n".join(["set -euo pipefail", *functions])
    for commands, code in (("'echo one' 'echo two'", 0), ("'echo one && false' 'echo two'", 1)):
        lines = f"{before}\ntogether {commands}\necho reached"
        done = subprocess.run(
            ["bash", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        said = done.stdout.splitlines()
        assert (done.returncode, "reached" in said) == (code, not code)
        assert {"one", "two"} <= set(said)


def test_ci_runs_all_tests_of_real_data():
    (folders,) = re.findall(r"-m 'data and not slow' ([^\"]+)", read(".ci/run"))
    for file in (ROOT / "tests").rglob("test_*.py"):
        if "@pytest.mark.data\n" in file.read_text() and file.name != Path(__file__).name:
            assert str(file.parent.relative_to(ROOT)) in folders.split(), file


def test_a_suite_that_must_run_fails_where_it_is_skipped(tmp_path):
    (tmp_path / "conftest.py").write_text(read("tests/must_run.py"))
    (tmp_path / "some").mkdir()
    test = tmp_path / "some" / "test_it.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]

    def code(content: str, folders: str) -> int:
        test.write_text(content)
        environment = {
            **os.environ,
            "GPGC_MUST_RUN": folders,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, check=False
        ).returncode

    missing = "import pytest\npytest.importorskip('no_such_package')\n"
    skipped = "import pytest\n@pytest.mark.skip(reason='none')\ndef test_b(): pass\n"
    passed = "def test_a(): pass\n"
    assert code(passed, "some") == code(passed + skipped, "") == 0
    for content in (missing, skipped, passed + skipped):
        assert code(content, "some") == 1
    assert code(passed, "other") == 1
