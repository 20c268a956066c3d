"""The report is one page that loads nothing, and what users wrote is text in it."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from gpgc import GPGCClassifier, InputError
from gpgc.plot import answers
from gpgc.report import page, report_page, write_report

NASTY = '"><script>alert(1)</script>&'


@pytest.fixture
def model(two_moons):
    features, labels, _ = two_moons
    names = np.array([None, f"a{NASTY}", f"b{NASTY}"], dtype=object)[labels + 1]
    names[0] = names[40]  # a wrong label
    return GPGCClassifier().fit(features, names)


class Reader(HTMLParser):
    """Collects tags, attributes and text, and that tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_what_users_wrote_is_text(model):
    ids = [f"id{node}{NASTY}" for node in range(80)]
    texts = [f"text{node}{NASTY}" for node in range(80)]
    page = Reader(report_page(model, ids=ids, texts=texts, title=f"title{NASTY}"))
    assert page.open == []
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    suspicious = page.text[page.text.index("Suspicious labels") :]
    assert f"id0{NASTY}text0{NASTY}" in suspicious
    for shown in (f"title{NASTY}", f"a{NASTY}", f"id0{NASTY}", f"text0{NASTY}"):
        assert shown in page.text


def test_the_page_loads_nothing(model):
    page = report_page(model)
    assert not re.search(r"https?:|src=|href=|url\(|@import", page)
    assert "default-src 'none'" in page


def test_every_section_is_there(model):
    text = Reader(report_page(model)).text
    for title in (
        "labels given",
        "Classes",
        "Confidence",
        "Map",
        "Suspicious labels",
        "What to label next",
        "Reliability by leave-one-out",
    ):
        assert title in text


def test_all_nodes_labelled(two_moons):
    features, _, truth = two_moons
    page = Reader(report_page(GPGCClassifier().fit(features, truth)))
    assert "What to label next" not in page.text
    assert page.open == []


def test_more_classes_than_colours():
    model = GPGCClassifier().fit(None, np.repeat(np.arange(30), 2), adjacency=np.eye(60, k=1))
    assert Reader(report_page(model)).open == []


def test_lengths_must_fit(model, tmp_path):
    with pytest.raises(InputError, match="ids must be one for each of 80 nodes, got 2"):
        write_report(model, tmp_path / "report.html", ids=["a", "b"])
    assert not (tmp_path / "report.html").exists()


def test_the_answers_are_computed_once(model, monkeypatch):
    calls = []
    answer = GPGCClassifier.predict_proba

    def counted(*arguments, **named):
        calls.append(arguments)
        return answer(*arguments, **named)

    monkeypatch.setattr(GPGCClassifier, "predict_proba", counted)
    report_page(model)
    assert len(calls) == 1


def test_of_a_large_graph_the_drawn_nodes_alone_are_laid_out(model, monkeypatch):
    sizes = []
    layouts = answers.layouts

    def noted(features, adjacency, seed):
        sizes.append(adjacency.shape[0])
        return layouts(features, adjacency, seed)

    monkeypatch.setattr(answers, "layouts", noted)
    monkeypatch.setattr(page, "MAP_NODES", 30)
    assert "30 of 80 nodes are drawn" in report_page(model)
    assert sizes == [30]
