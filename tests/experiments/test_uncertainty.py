"""The studies of calibration and of what to label, on one small data set each."""

import numpy as np
import pytest

from gpgc.experiments import active, calibration


@pytest.mark.data
def test_calibration_study_of_cora(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration.published, "CITATION", ("cora",))
    tables, pictures = calibration.calibration_study(data_dir, 2, tmp_path, lambda step: None)
    assert [table.name for table in tables] == [
        "calibration_public",
        "calibration_random",
        "prediction_sets",
        "strangers",
    ]
    ours, _, largest, linear, _ = (list(row) for row in tables[1].rows)
    assert float(ours[3]) < 6
    assert float(ours[3]) < min(float(largest[3]), float(linear[3]))
    assert len(pictures) == 6
    assert all(path.stat().st_size > 1000 for path in pictures)


@pytest.mark.data
def test_active_study_of_cora(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(active.published, "CITATION", ("cora",))
    monkeypatch.setitem(active.BUDGETS, "cora", (7, 30))
    tables, pictures = active.active_study(data_dir, 1, tmp_path, lambda step: None)
    assert {row[1] for row in tables[0].rows} == set(active.STRATEGIES)
    assert all(path.exists() for path in pictures)


@pytest.mark.data
def test_chosen_labels_beat_random_ones(data_dir):
    from gpgc.datasets import load_planetoid

    curves = active.labelling_curves(load_planetoid("cora", data_dir), (7,), 2, lambda step: None)
    assert np.mean(curves["variance"]) > np.mean(curves["random"]) + 0.1
