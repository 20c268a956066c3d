"""A real Chromium and real servers; skipped with a sentence where they are absent."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
TOKEN = "a-token-for-tests-only-1234"


@dataclass
class Running:
    """A `gpgc label` that runs, and its journal."""

    arguments: list
    folder: Path
    port: int = 0
    program: tuple = ("-m", "gpgc")
    token: str = TOKEN
    process: subprocess.Popen = field(default=None)
    url: str = ""

    @property
    def journal(self):
        return self.folder / "labels.jsonl"

    @property
    def base(self):
        return self.url.split("/?")[0]

    def start(self):
        command = [sys.executable, *self.program, "label", *map(str, self.arguments)]
        command += ["--no-browser", "--journal", str(self.journal)]
        command += ["--port", str(self.port)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr").open("ab"),
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "GPGC_TOKEN": self.token},
        )
        line = self.process.stdout.readline()
        found = re.search(r"http://[\w.-]+:(\d+)/\S+", line)
        assert found, (line, (self.folder / "stderr").read_text())
        self.url, self.port = found[0], int(found[1])
        return self

    def stop(self, sign=signal.SIGINT):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(sign)
            self.process.wait(120)
        return self.process.returncode

    def lines(self):
        """The journal's events, without the header."""
        text = self.journal.read_text()
        whole = text[: text.rfind("\n") + 1]
        return [json.loads(line) for line in whole.splitlines() if line][1:]


@pytest.fixture(scope="session")
def browser_kind():
    """Return how to launch Chromium."""
    pytest.importorskip("uvicorn", reason="the page needs the extra label")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need Playwright: pip install 'gpgc[browser]'"
    )
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("browser tests need Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--enable-unsafe-swiftshader"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            arguments.append("--no-sandbox")

        def launch(*more):
            return playwright.chromium.launch(
                executable_path=found, args=[*arguments, *more], chromium_sandbox=False
            )

        yield launch


@pytest.fixture(scope="session")
def browser(browser_kind):
    chromium = browser_kind()
    yield chromium
    chromium.close()


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts `gpgc label` with arguments."""
    servers = []

    def start(*arguments, folder=None, **more):
        server = Running(list(arguments), folder or tmp_path, **more).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop(signal.SIGKILL)


@pytest.fixture
def open_page(browser):
    """Return a function that opens the page of a server and notes what goes wrong."""
    contexts = []

    def opened(server, wait=True, **context):
        chosen = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        chosen.set_default_timeout(120_000)  # of milliseconds: a slow machine is no failure
        contexts.append(chosen)
        page = chosen.new_page()
        page.problems, page.strangers = [], []
        page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))

        def watch(route):
            if route.request.url.startswith((server.base, "blob:", "data:")):
                route.continue_()
            else:
                page.strangers.append(route.request.url)
                route.abort()

        chosen.route("**/*", watch)
        page.goto(server.url)
        if wait:
            page.locator(".item-box[data-item]").wait_for()
            page.locator(".progress").wait_for(state="hidden")  # the model is there
        return page

    yield opened
    for context in contexts:
        context.close()


def item(page):
    """Return the node that is on the screen, once there is one."""
    return int(page.locator(".item-box[data-item]").get_attribute("data-item"))


OPEN = """() => {
  // an item is on the screen, and so long that a key is meant for it
  const box = document.querySelector('.item-box[data-item]');
  return box && performance.now() - box.dataset.shown > 151;
}"""


def press(page, key):
    """Press a key once the item on the screen may be answered."""
    page.wait_for_function(OPEN)
    page.keyboard.press(key)


def answer(page, key):
    """Press a key once the item may be answered, and wait for the next one."""
    before = item(page)
    press(page, key)
    wait_for_other_item(page, before)


def wait_for_other_item(page, before):
    page.locator(f".item-box[data-item]:not([data-item='{before}'])").wait_for()


def wait_for_model(page, server):
    """Wait until the model has learnt all labels that were given."""
    deadline = time.monotonic() + 120
    while page.request.get(f"{server.base}/api/estimate").json()["behind"]:
        assert time.monotonic() < deadline, "the model did not catch up"
        page.wait_for_timeout(50)


def shot(page, name, **more):
    """Keep a picture of the page, where one is wanted."""
    folder = os.environ.get("GPGC_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", **more)


def wait_for_labels(page, n):
    page.locator("#labels", has_text=re.compile(rf"^{n} labels?$")).wait_for()
    wait_until_saved(page)


def wait_until_saved(page):
    """Wait until the journal has all that was answered."""
    page.locator(".saved", has_text="saved ✓").wait_for()
