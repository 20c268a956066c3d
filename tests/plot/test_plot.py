"""Pictures show what the estimators say."""

import re
from pathlib import Path

import numpy as np
import pytest

import gpgc.labelling
from gpgc import GPGCClassifier, InputError, plot
from gpgc.plot.axes import COLOURS

matplotlib = pytest.importorskip("matplotlib", reason="needs the extra plot")
matplotlib.use("Agg")


@pytest.fixture
def model(two_moons):
    features, labels, _ = two_moons
    names = np.array([None, "cost in $", "<b>5 $</b>"], dtype=object)[labels + 1]
    return GPGCClassifier().fit(features, names)


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def test_the_map_has_a_point_for_each_node(model):
    axes = plot.node_map(model)
    axes.figure.canvas.draw()  # a dollar sign in a label must not begin a formula
    drawn = sum(len(points.get_offsets()) for points in axes.collections if points.get_label())
    links = axes.collections[0]
    assert drawn - len(links.get_offsets()) == 80
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [r"<b>5 \$</b>", r"cost in \$"]


def test_positions_may_be_given_and_axes_too(model):
    _, axes = matplotlib.pyplot.subplots()
    places = np.random.default_rng(0).normal(size=(80, 2))
    assert plot.node_map(model, positions=places, ax=axes) is axes


def test_reliability_is_that_of_the_model(model, two_moons):
    _, labels, _ = two_moons
    axes = plot.reliability(model, n_bins=5)
    bins = model.reliability(n_bins=5)
    line = axes.lines[1]
    np.testing.assert_allclose(line.get_ydata(), bins.accuracy[bins.size > 0])
    hidden = np.flatnonzero(labels == -1)
    plot.reliability(model, hidden, model.predict()[hidden])


def test_the_learning_curve_leaves_the_model_as_it_was(model):
    before = model.predict_proba()
    axes = plot.learning_curve(model, sizes=[2, 4], n_repeats=2)
    assert axes.lines[0].get_xdata().tolist() == [2, 4]
    assert np.array_equal(model.predict_proba(), before)
    with pytest.raises(InputError, match="between 2 and 5"):
        plot.learning_curve(model, sizes=[6])


def test_contributions_add_up_to_the_scores(model):
    found = model.explain(10)
    axes = plot.contributions(found, n=3)
    axes.figure.canvas.draw()
    first = found.deciding()[0]
    bars = axes.containers[0]
    np.testing.assert_allclose(sum(bar.get_width() for bar in bars), found.total[first])
    assert len(bars) == 5
    plot.contributions(found, names=[f"${node}" for node in range(80)]).figure.canvas.draw()


def test_without_matplotlib_the_cure_is_named(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"gpgc\[plot\]"):
        plot.node_map(model)


def test_colours_are_those_of_the_page_to_label_on():
    page = Path(gpgc.labelling.__file__).parent / "page" / "palette.js"
    assert tuple(re.findall("#[0-9a-f]{6}", page.read_text())) == COLOURS
