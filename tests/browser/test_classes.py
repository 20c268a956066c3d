"""Classes are renamed, merged, deleted, recoloured, moved and found by typing."""

import pytest

from tests.browser.conftest import (
    answer,
    item,
    press,
    shot,
    wait_for_labels,
    wait_for_other_item,
    wait_until_saved,
)
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def names(page):
    return page.locator(".left .class").evaluate_all("all => all.map((one) => one.dataset.name)")


def edit(page, name):
    page.keyboard.press("e")
    page.get_by_role("button", name=f"Edit {name}", exact=True).click()
    page.locator("dialog h2", has_text=f"Class {name}").wait_for()


def test_a_class_lives_and_every_change_undoes(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    for _ in range(9):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 9)
    edit(page, "a")
    shot(page, "80-class")
    page.get_by_label("Name", exact=True).fill("apple")
    page.keyboard.press("Enter")
    page.locator(".left .class[data-name='apple']").wait_for()
    page.locator(".class-list", has_text="apple").wait_for()
    shot(page, "81-classes")
    page.get_by_role("button", name="apple down").click()
    page.locator(".left .class:nth-child(2)[data-name='apple']").wait_for()
    assert names(page) == ["b", "apple", "c"]
    page.get_by_role("button", name="Edit apple", exact=True).click()
    page.get_by_label("Colour #1b3f8b").click()
    page.locator(".class-list").wait_for()
    style = page.locator(".left .class[data-name='apple']").get_attribute("style")
    assert "#1b3f8b" in style
    page.get_by_role("button", name="Edit c", exact=True).click()
    page.get_by_label("Merge into").select_option("b")
    page.get_by_role("button", name="Yes").click()
    page.locator(".class-list:not(:has-text('c '))").wait_for()
    page.locator(".left .class[data-name='c']").wait_for(state="detached")
    assert names(page) == ["b", "apple"]
    for _ in range(4):
        page.locator("dialog").get_by_role("button", name="Undo").click()
        wait_until_saved(page)
    page.locator(".left .class[data-name='c']").wait_for()
    page.locator(".left .class[data-name='a']").wait_for()
    assert names(page) == ["a", "b", "c"]
    wait_for_labels(page, 9)
    done = [line["do"] for line in server.lines()][9:]
    assert done == ["rename", "order", "style", "rename", "undo", "undo", "undo", "undo"]
    assert page.problems == []


def test_one_of_many_classes_is_found_by_typing(serve, open_page, small, tmp_path):
    classes = ",".join(f"kind {n}" for n in range(24))
    server = serve(*small[0][:2], "--classes", classes)
    page = open_page(server)
    first = item(page)
    press(page, "f")
    page.get_by_role("searchbox").fill("d 23")
    shot(page, "82-find-class")
    page.keyboard.press("Enter")
    wait_for_labels(page, 1)
    assert [(line["do"], line["label"]) for line in server.lines()] == [("label", "kind 23")]
    wait_for_other_item(page, first)
    assert page.problems == []
