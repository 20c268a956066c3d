"""The image studies, on small sets of features with the network's answers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gpgc.errors import DataError, InputError
from gpgc.graph import neighbor_graph
from gpgc_lab.datasets.feature_files import FeatureSet, save_features
from gpgc_lab.datasets.image_graphs import as_dataset, load_image_graph
from gpgc_lab.journal import StudyJournal
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.images import candidates as models
from gpgc_lab.studies.images import few_labels, image_figures, image_study, many_images
from gpgc_lab.studies.images.image_figures import contact_sheet, draw_samples
from gpgc_lab.studies.images.image_scores import BEST, BROAD, NETWORK
from gpgc_lab.studies.images.image_tables import ROWS, TIME
from gpgc_lab.studies.images.network_features import KINDS, load_network_features
from gpgc_lab.studies.images.other_systems import other_systems
from gpgc_lab.tables import write_tables
from gpgc_lab.task import Task

NAMES = ("mnist", "svhn", "cifar10")
N_CLASSES = 3


def small_features(seed=0, overlap=1.0):
    """360 vectors in three clouds, 40 for training, 40 for validation of each class."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(N_CLASSES), 120)
    centres = 3 * np.eye(N_CLASSES, 8)
    features = centres[labels] + overlap * rng.normal(size=(360, 8))
    train, validation, test = (
        np.concatenate([120 * label + np.arange(start, stop) for label in range(N_CLASSES)])
        for start, stop in ((0, 40), (40, 80), (80, 120))
    )
    scores = np.exp(features @ centres.T)
    return FeatureSet(
        features.astype(np.float32),
        labels,
        train,
        validation,
        test,
        {"method": "three clouds", "steps": 7, "labels_used": "none"},
        (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of features, where images and other systems are missing."""
    for seed, name in enumerate(NAMES):
        save_features(tmp_path / "features" / f"{name}.npz", small_features(seed))
    monkeypatch.setattr("gpgc_lab.studies.images.other_systems.LIBRARIES", ("no_such_library",))

    def no_images(name, data_dir=None, seed=0):
        raise DataError(f"{name} is not here")

    monkeypatch.setattr(image_study, "load_images", no_images)
    return tmp_path / "features"


def quiet(step):
    pass


@pytest.fixture
def several_networks(folder):
    """Features of all data sets by three networks, the third pretrained and without answers."""
    for seed, name in enumerate(NAMES):
        for place, kind in enumerate(KINDS):
            made = small_features(seed + 3 * place)
            provenance = {**made.provenance, "processor_seconds": 1234.5 * (place + 1)}
            made = replace(made, provenance=provenance)
            if kind.is_pretrained:
                made = replace(made, probabilities=None)
            save_features(folder / f"{name}{kind.suffix}.npz", made)
    return folder


def test_study_of_small_features(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(image_figures, "N_DRAWN", 100)
    monkeypatch.setattr(
        many_images,
        "in_own_process",
        lambda job, arguments: {**many_images.measure(**arguments), "peak": 2e6},
    )
    tables, pictures = image_study.images_study(
        None, StudyFolder(tmp_path / "out", tmp_path), quiet, features=folder, n_vectors=2500
    )
    accuracy, settings, graphs, many = tables
    cells = {row[0]: row[1:] for row in accuracy.rows}
    assert set(cells) == {*ROWS, TIME}
    assert [str(cell) for cell in cells["GCN"]] == ["– (98.6)", "– (88.6)", "– (70.2)"]
    assert cells["GPGC-big"][0].mean > 90
    assert cells["GPGC-big"][0].published == 98.9
    assert cells[f"{BEST}, X"][0].mean > 90
    assert any("three clouds; 7 steps" in note for note in accuracy.notes)
    assert any("mnist is not here" in note for note in accuracy.notes)
    assert {row[2] for row in settings.rows} == set(NAMES)
    for _, _, others, with_itself, published, *_ in graphs.rows:
        assert others > with_itself > 0
        assert published > 65_000
    assert [row[0] for row in many.rows] == ["big", "broad"]
    for *_, peak, right in many.rows:
        assert peak == 2
        assert float(right) > 50
    assert [path.name for path in pictures] == [
        "image_features.png",
        "image_features.svg",
        "image_uncertainty.png",
        "image_uncertainty.svg",
    ]
    assert all(path.stat().st_size > 5_000 for path in pictures)
    assert all(path.exists() for path in write_tables(tables, tmp_path / "out", "images"))


def test_features_of_several_networks_stand_side_by_side(several_networks, tmp_path, monkeypatch):
    monkeypatch.setattr(image_figures, "N_DRAWN", 100)
    monkeypatch.setattr(image_study, "many_images_table", lambda n_vectors: None)
    tables, pictures = image_study.images_study(
        None, StudyFolder(tmp_path / "out", tmp_path), quiet, features=several_networks
    )
    own, elsewhere, settings, graphs = tables
    assert own.columns[1:] == [
        f"{name}, {network}" for name in NAMES for network in ("Conv-Large", "compact")
    ]
    rows = {row[0]: row[1:] for row in own.rows}
    assert [cell.published for cell in rows["GPGC-big"]] == [98.9, 98.9, 88.8, 88.8, 72.1, 72.1]
    assert [cell.published for cell in rows[f"{BROAD}, X"]][2:4] == [89.1, 89.1]
    assert rows[TIME] == ["1,234 s", "2,469 s"] * 3
    assert rows[NETWORK][1].mean > 90
    assert "PRETRAINED" in elsewhere.title
    assert "not to be compared" in elsewhere.title
    assert all("PRETRAINED" in column for column in elsewhere.columns[1:])
    found = {row[0]: row[1:] for row in elsewhere.rows}
    assert NETWORK not in found
    assert "GCN" not in found
    assert all(cell.published is None for row in list(found.values())[:-1] for cell in row)
    assert {row[0] for row in settings.rows} == {kind.name for kind in KINDS}
    assert [row[4] for row in graphs.rows][-3:] == [None] * 3
    assert [path.stem for path in pictures][::2] == [
        "image_features",
        "image_uncertainty",
        "image_features_pretrained",
        "image_uncertainty_pretrained",
    ]


def test_stored_runs_of_other_systems_are_shown_for_the_same_features_only(folder, tmp_path):
    graph_task = Task.of(as_dataset("mnist", load_network_features("mnist", folder)))
    run = {"task": graph_task.digest(), "system": "GCN", "status": "done"}
    lines = [
        {**run, "accuracy": 0.5},
        {**run, "task": "another", "accuracy": 0.25},
        {**run, "system": "GAT", "status": "failed"},
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert other_systems(graph_task, ["GCN", "GAT"], 1, StudyJournal(path), "", quiet) == {
        "GCN": [0.5]
    }
    assert (
        other_systems(graph_task, ["GCN"], 1, StudyJournal(tmp_path / "none.jsonl"), "", quiet)
        == {}
    )


def test_choices_never_see_test_labels():
    made = small_features()
    seen = np.concatenate([made.train, made.validation])
    hidden = made.labels.copy()
    hidden[made.test] = 0
    graph = neighbor_graph(made.features)
    tried = list(models.candidates(made.features, graph, seen, ["small", "big"]))
    labels = hidden, made.labels
    found = [models.choose(tried, y, made.train, made.validation) for y in labels]
    assert found[0].candidate is found[1].candidate
    assert found[0].noise == found[1].noise
    again = [
        models.learn_from_validation(one, y, made.train, made.validation).noise
        for one, y in zip(found, labels, strict=True)
    ]
    assert again[0] == again[1]


def test_leaving_a_validation_image_out_is_predicting_it_from_all_others():
    made = small_features(overlap=2.0)
    seen = np.concatenate([made.train, made.validation])
    graph = neighbor_graph(made.features)
    tried = models.candidates(made.features, graph, seen, ["small"])
    choice = models.choose(tried, made.labels, made.train, made.validation)
    again = models.learn_from_validation(choice, made.labels, made.train, made.validation)
    right = [
        again.predict(made.labels, np.setdiff1d(seen, [node]), np.array([node]))[0]
        == made.labels[node]
        for node in made.validation
    ]
    assert np.mean(right) == pytest.approx(again.accuracy)


def test_labels_study(several_networks, tmp_path, monkeypatch):
    monkeypatch.setattr(few_labels.published, "LABEL_COUNTS", (6, 30, 120))
    monkeypatch.setattr(
        few_labels,
        "load_image_graph",
        lambda name, kind, where: as_dataset(name, small_features(overlap=2.0)),
    )
    tables, pictures = few_labels.labels_study(
        None, StudyFolder(tmp_path, tmp_path), quiet, features=several_networks
    )
    assert not pictures
    learnt, elsewhere, plain = tables
    assert [row[2] for row in learnt.rows] == list(few_labels.MODELS) * 6
    for table in (elsewhere, plain):
        assert [row[2] for row in table.rows] == list(few_labels.MODELS) * 3
    assert [row[1] for row in learnt.rows[::4]] == ["Conv-Large", "compact"] * 3
    assert {row[1] for row in elsewhere.rows} == {"PRETRAINED"}
    assert "PRETRAINED" in elsewhere.title
    assert str(learnt.rows[1][3]).endswith("(98.5)")
    assert elsewhere.rows[1][3].published is None
    assert plain.rows[1][3].published is None
    assert plain.rows[2][5].mean > 50


def test_fewer_labels_are_among_more_and_balanced():
    made = small_features()
    few, more = (few_labels.nested_labels(made.labels, made.train, n) for n in (6, 30))
    assert np.isin(few, more).all()
    assert np.bincount(made.labels[more]).tolist() == [10, 10, 10]


def test_missing_features_say_how_to_make_them(tmp_path):
    with pytest.raises(DataError, match="gpgc train svhn"):
        load_network_features("svhn", tmp_path)


def test_cut_and_damaged_features_are_refused_by_name(tmp_path):
    path = tmp_path / "mnist.npz"
    save_features(path, small_features())
    whole = path.read_bytes()
    middle = len(whole) // 2
    swapped = bytearray(whole)
    swapped[middle : middle + 64] = np.random.default_rng(0).bytes(64)
    for content in (whole[:middle], bytes(swapped), b""):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"mnist\.npz"):
            load_network_features("mnist", tmp_path)
        with pytest.raises(InputError, match=r"mnist\.npz"):
            load_image_graph("mnist", str(path))


def test_sheet_has_a_row_of_ten_images_for_each_class(tmp_path):
    from gpgc_lab.datasets import ImageDataset

    labels = np.tile(np.arange(2), 20)
    pixels = np.broadcast_to(labels[:, None, None], (40, 4, 4)).astype(np.uint8)
    nodes = np.arange(40)
    data = ImageDataset("mnist", pixels, labels, ("a", "b"), nodes, nodes[:0], nodes[:0])
    sheet = contact_sheet(data)
    assert sheet.shape == (8, 40)
    assert (sheet[:4] == 0).all()
    assert (sheet[4:] == 1).all()
    assert all(path.exists() for path in draw_samples([data], tmp_path))


@pytest.mark.data
def test_principal_components_of_real_images(data_dir):
    from gpgc.estimators import GPGCClassifier

    data = load_image_graph("mnist", "pca", data_dir)
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    predicted = GPGCClassifier().fit(data.features, y).predict()
    assert np.mean(predicted[data.test] == data.labels[data.test]) > 0.93
