"""The tables of the citation networks."""

import json

import pytest

from gpgc_lab.studies import citation


@pytest.mark.data
def test_tables_of_one_data_set(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(citation.published, "CITATION", ("cora",))
    monkeypatch.setattr(citation, "KERNELS", citation.KERNELS[:2])
    monkeypatch.setattr(citation, "FEATURE_NORMS", ("none",))
    tables = citation.citation_tables(data_dir, 2, lambda step: None)
    assert [table.name for table in tables] == [
        "datasets",
        "citation_accuracy",
        "citation_settings",
        "citation_random_splits",
    ]
    from gpgc_lab.tables import write_tables

    written = write_tables(tables, tmp_path, "citation")
    stored = json.loads((tmp_path / "citation.json").read_text())
    assert stored["citation_accuracy"]["rows"][1]["cora"]["published"] == 83.6
    assert "GPGC-big" in (tmp_path / "citation.md").read_text()
    assert all(path.exists() for path in written)
