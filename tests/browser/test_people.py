"""Two people with an address each: items that both answer, agreement, who, conflicts."""

import re
import socket

import pytest

from tests.browser.conftest import answer, item, shot, wait_for_labels
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def test_two_people_answer_some_items_both_and_see_how_far_they_agree(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments, "--by", "anna,ben", "--overlap", "1")
    others = re.search(r"for ben: (http\S+)", server.process.stdout.readline())[1]
    anna = open_page(server)
    assert "anna" in anna.locator("h1").inner_text()
    for _ in range(12):
        answer(anna, str(truth[item(anna)] + 1))
    wait_for_labels(anna, 12)
    audits = [line["id"] for line in server.lines() if line["role"] == "audit"]
    server.url = others
    ben = open_page(server)
    assert "ben" in ben.locator("h1").inner_text()
    wrong = item(ben)
    for step in range(len(audits)):
        assert str(item(ben)) in audits
        assert ben.locator(".class.chosen").count() == 0  # nothing tells that it has an answer
        assert "labelled" not in ben.locator(".note").inner_text()
        answer(ben, str((truth[item(ben)] + (step == 0)) % 3 + 1))
    assert str(item(ben)) not in audits
    ben.locator(f"#people:has-text('{len(audits) - 1} of {len(audits)} random items')").wait_for()
    ben.locator("#people summary").click()
    assert ben.locator("#people tbody th").all_inner_texts() == ["anna", "ben"]
    shot(ben, "87-people")
    done = [(line["do"], line["by"]) for line in server.lines()]
    assert done == [("label", "anna")] * 12 + [("second", "ben")] * len(audits)
    for name in ("anna", "ben"):
        ben.locator(".history .muted", has_text=name).first.wait_for()

    ben.locator("#review", has_text="Review 1").click()
    why = ben.locator("dialog .why")
    why.wait_for()
    assert "by anna, but" in why.inner_text()
    shot(ben, "88-conflict")
    ben.keyboard.press("Enter")  # the first answer was right
    ben.locator("dialog", has_text="Nothing to review").wait_for()
    assert (server.lines()[-1]["do"], server.lines()[-1]["id"]) == ("keep", str(wrong))
    assert anna.problems == ben.problems == []


def test_the_page_works_from_another_machine(serve, open_page, small):
    """By the number of this machine, where pages have less than on 127.0.0.1."""
    server = serve(*small[0], "--host", "0.0.0.0")
    number = socket.gethostbyname(socket.gethostname())
    server.url = server.url.replace(socket.gethostname(), number)
    page = open_page(server)
    page.evaluate("() => { crypto.randomUUID = undefined; }")  # as where number is no loopback's
    answer(page, "1")
    wait_for_labels(page, 1)
    assert page.problems == []
    assert "whoever on the network has one" in (server.folder / "stderr").read_text()
