"""The report in a real browser: it is drawn, loads nothing and runs nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from gpgc import GPGCClassifier
from gpgc.report import write_report

pytestmark = pytest.mark.browser
NASTY = '"><script>document.title = "run"</script><img src=x onerror="document.title = 1">'


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, truth = load_digits(return_X_y=True)
    y = np.full(len(truth), None, dtype=object)
    y[:200] = [f"{digit}{NASTY}" for digit in truth[:200]]
    model = GPGCClassifier().fit(X, y)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(model, path, ids=[f"{node}{NASTY}" for node in range(len(y))], title="digits")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_drawn_and_loads_nothing(report, browser, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1000, "height": 800})
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    assert page.title() == "digits"
    assert asked == [report.as_uri()]
    assert said == []
    assert page.locator(".map svg > *").count() == 1797
    assert page.locator(".map svg").bounding_box()["height"] > 300
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    wide = page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
    assert not wide
    context.close()
