"""A goal with an end: what is left, a closing audit, a certificate."""

import json

import pytest

from gpgc.labelling.estimate import audits_needed
from gpgc.labelling.ledger import Goal
from tests.browser.conftest import answer, item, press, shot, wait_for_labels
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def test_a_goal_is_set_reached_and_certified(serve, open_page, small, tmp_path):
    arguments, truth = small
    needed = audits_needed(Goal(0.85, 0.12))
    server = serve(*arguments)
    page = open_page(server)
    page.get_by_role("button", name="Set a goal").click()
    page.get_by_label("accuracy").fill("85")
    page.get_by_label("within").fill("12")
    shot(page, "50-goal")
    page.keyboard.press("Enter")
    page.locator("#goal", has_text="Goal 85 % ± 12").wait_for()
    assert [(line["do"], line["version"]) for line in server.lines()] == [("goal", 3)]
    for _ in range(36):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 36)
    n_audits = sum(line.get("role") == "audit" for line in server.lines())
    page.locator("#goal", has_text=f" {n_audits} of {needed} random").wait_for()
    shot(page, "51-towards-goal")
    page.keyboard.press("Shift+F")
    page.locator("dialog", has_text="that you answered already count too").wait_for()
    left = int(page.get_by_role("spinbutton").input_value())
    assert 20 < left < needed
    page.keyboard.press("Enter")
    page.locator(".figure", has_text=f"of {left} audited").wait_for()
    for _ in range(left - 1):
        answer(page, str(truth[item(page)] + 1))
    press(page, str(truth[item(page)] + 1))
    page.locator(".certificate", has_text="of the labels are right").wait_for()
    shot(page, "52-certificate")
    with page.expect_download() as download:
        page.get_by_role("link", name="certificate.json").click()
    download.value.save_as(tmp_path / "certificate.json")
    found = json.loads((tmp_path / "certificate.json").read_text())
    assert found["measured"]["answered"] == needed
    assert found["goal"]["accuracy"] == 0.85
    with page.expect_download() as download:
        page.get_by_role("link", name="certificate.html").click()
    download.value.save_as(tmp_path / "certificate.html")
    other = page.context.new_page()
    other.set_content((tmp_path / "certificate.html").read_text())
    other.get_by_text("of the labels are right").wait_for()
    shot(other, "53-certificate-page")
    assert page.problems == []
