"""Tables of README and documentation are those of the stored results."""

from __future__ import annotations

import pytest

from gpgc.errors import InputError
from gpgc_lab.report.pages import PAGES, RESULTS, written


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert text == written(text), "run python -m gpgc_lab.report.pages"


def test_pages_have_such_tables():
    assert sum(page.read_text(encoding="utf-8").count("<!-- table ") for page in PAGES) >= 5


def test_rows_and_columns_that_are_not_there_are_refused():
    asked = "<!-- table core/core_public.csv: {} -->\n<!-- end -->"
    with pytest.raises(InputError, match="must have rows where set = nowhere"):
        written(asked.format("set; where set = nowhere"))
    with pytest.raises(InputError, match="must have a column 'sets'"):
        written(asked.format("sets"))
    assert RESULTS.is_dir()
