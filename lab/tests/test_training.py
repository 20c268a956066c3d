"""Training: resumption to the bit, and which labels may touch what."""

import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gpgc.errors import InputError  # noqa: E402
from gpgc_lab.image_networks import (  # noqa: E402
    Schedule,
    checkpoint_features,
    checkpoint_schedule,
    schedule_for_minutes,
    train_features,
)
from gpgc_lab.image_networks.augmentation import Augmentation  # noqa: E402
from gpgc_lab.image_networks.views import ImageViews  # noqa: E402

SCHEDULE = Schedule(
    steps=6,
    warm_up=2,
    ramp=2,
    small=4,
    decay=2,
    warm_up_batch=6,
    labelled_batch=4,
    unlabelled_batch=4,
    rotation=10.0,
    zoom=0.1,
    flip=True,
    validate_every=2,
)


class StoppedError(Exception):
    pass


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Tiny convolutions on a busy machine wait for their threads longer than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _task():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (30, 24, 24)).astype(np.uint8)
    labels = np.full(30, -1)
    labels[:10] = np.arange(10) % 2
    return images, labels, (np.arange(10, 20), np.arange(10) % 2)


def _stop_after(step):
    def progress(report):
        if report.step == step:
            raise StoppedError

    return progress


def _weights(path):
    return torch.load(path, weights_only=True)


def _same(first, second):
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return torch.equal(first, second) if isinstance(first, torch.Tensor) else first == second


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "whole.pt"
    reports = []
    made = train_features(*_task(), SCHEDULE, path, progress=reports.append)
    return made, path, reports


@pytest.mark.parametrize("step", [1, 3, 5])
def test_stopped_and_resumed_is_bit_identical(finished, tmp_path, step):
    whole, path, _ = finished
    torch.manual_seed(step)  # a state of the generator that the run must not depend on
    with pytest.raises(StoppedError):
        train_features(
            *_task(), SCHEDULE, tmp_path / "a.pt", progress=_stop_after(step), checkpoint_seconds=0
        )
    resumed = train_features(*_task(), SCHEDULE, tmp_path / "a.pt")
    assert np.array_equal(whole.features, resumed.features)
    assert np.array_equal(whole.probabilities, resumed.probabilities)
    first, second = _weights(path), _weights(tmp_path / "a.pt")
    for name in ("network", "optimiser", "best", "random_state", "step"):
        assert _same(first[name], second[name]), name


def test_killed_process_resumes_bit_identical(finished, tmp_path):
    whole, _, _ = finished
    script = (
        "import os, signal, sys, torch; sys.path.insert(0, sys.argv[2])\n"
        "from test_training import SCHEDULE, _task, train_features\n"
        "torch.set_num_threads(1)\n"
        "def kill(report):\n"
        "    if report.step == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "train_features(*_task(), SCHEDULE, sys.argv[1], progress=kill, checkpoint_seconds=0)\n"
    )
    path = tmp_path / "killed.pt"
    here = os.path.dirname(__file__)
    process = subprocess.run([sys.executable, "-c", script, path, here], check=False)
    assert process.returncode == -signal.SIGKILL
    assert _weights(path)["step"] == 3
    resumed = train_features(*_task(), SCHEDULE, path)
    assert np.array_equal(whole.features, resumed.features)
    assert np.array_equal(whole.probabilities, resumed.probabilities)


def test_validation_labels_do_not_touch_the_weights(finished, tmp_path):
    _, path, _ = finished
    images, labels, (index, answers) = _task()
    train_features(images, labels, (index, 1 - answers), SCHEDULE, tmp_path / "a.pt")
    first, second = _weights(path), _weights(tmp_path / "a.pt")
    assert _same(first["network"], second["network"])
    assert _same(first["optimiser"], second["optimiser"])
    assert first["data"] != second["data"]


def test_training_labels_do_touch_the_weights(finished, tmp_path):
    _, path, _ = finished
    images, labels, validation = _task()
    train_features(
        images, np.where(labels >= 0, 1 - labels, -1), validation, SCHEDULE, tmp_path / "a.pt"
    )
    assert not _same(_weights(path)["network"], _weights(tmp_path / "a.pt")["network"])


def test_result_and_reports(finished):
    made, path, reports = finished
    assert made.features.shape == (30, 128)
    assert made.features.dtype == np.float16
    np.testing.assert_allclose(made.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert [report.step for report in reports] == [1, 2, 3, 4, 5, 6]
    assert reports[0].validation_accuracy is None
    assert reports[1].losses["adversarial"] == 0
    assert reports[2].losses["adversarial"] > 0
    assert reports[-1].seconds_left == 0
    best = reports[-1].best_validation_accuracy
    assert best == max(r.validation_accuracy for r in reports[1:])
    assert made.provenance["network_validation_accuracy"] == best
    answers = made.probabilities[10:20].argmax(axis=1)
    assert np.mean(answers == np.arange(10) % 2) == pytest.approx(best)
    assert checkpoint_schedule(path) == SCHEDULE


def test_finished_run_is_read_again_and_unfinished_one_gives_its_best(finished, tmp_path):
    made, path, _ = finished
    assert np.array_equal(checkpoint_features(_task()[0], path).features, made.features)
    with pytest.raises(StoppedError):
        train_features(
            *_task(), SCHEDULE, tmp_path / "a.pt", progress=_stop_after(4), checkpoint_seconds=0
        )
    early = checkpoint_features(_task()[0], tmp_path / "a.pt")
    assert early.provenance["steps"] == 4
    assert early.provenance["schedule"]["steps"] == 6


def test_checkpoint_of_another_run_is_refused(finished):
    _, path, _ = finished
    images, labels, validation = _task()
    with pytest.raises(InputError, match="other images"):
        train_features(255 - images, labels, validation, SCHEDULE, path)
    with pytest.raises(InputError, match="must follow"):
        train_features(images, labels, validation, replace(SCHEDULE, seed=1), path)


def test_damaged_checkpoint_is_refused(finished, tmp_path):
    _, path, _ = finished
    damaged = tmp_path / "damaged.pt"
    damaged.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"damaged\.pt"):
        checkpoint_schedule(damaged)
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("damaged/data.pkl", b"no pickle")
    with pytest.raises(InputError, match=r"damaged\.pt"):
        checkpoint_schedule(damaged)
    other = tmp_path / "other.pt"
    torch.save({"something": 1}, other)
    with pytest.raises(InputError, match=r"other\.pt"):
        checkpoint_schedule(other)
    assert checkpoint_schedule(tmp_path / "absent.pt") is None


@pytest.mark.parametrize(
    ("labels", "validation", "message"),
    [
        (np.full(29, -1), ([20], [0]), "labels must have shape"),
        (np.full(30, -1), ([20], [0]), "at least two classes"),
        (np.arange(30) % 2, ([20], [0]), "must have the label -1"),
        (np.r_[0, 1, np.full(28, -1)], ([30], [0]), "validation indices"),
        (np.r_[0, 1, np.full(28, -1)], ([20, 21], [0]), "of one length"),
    ],
)
def test_bad_labels_are_refused(tmp_path, labels, validation, message):
    with pytest.raises(InputError, match=message):
        train_features(_task()[0], labels, validation, SCHEDULE, tmp_path / "a.pt")


def test_minutes_become_a_fixed_number_of_steps():
    images = np.zeros((5, 16, 16), np.uint8)
    schedule = schedule_for_minutes(0.2, replace(SCHEDULE, unlabelled_batch=4), images)
    assert schedule.steps > 1
    assert schedule.warm_up == round(schedule.steps / 3)
    with pytest.raises(InputError, match="minutes"):
        schedule_for_minutes(0, SCHEDULE, images)


def test_views_without_augmentation_are_the_images():
    images = np.random.default_rng(0).integers(0, 256, (3, 24, 24, 3)).astype(np.uint8)
    views = ImageViews(images)
    still = Augmentation()
    everything = torch.arange(3)
    for side in (24, 12):
        plain = views.plain(everything, side)
        assert plain.shape == (3, 3, side, side)
        torch.testing.assert_close(
            views.augmented(everything, side, still), plain, atol=1e-4, rtol=0
        )
    assert views.plain(everything, 24).mean().item() == pytest.approx(0, abs=1e-5)


def test_flip_mirrors_and_shift_moves_by_whole_pixels():
    images = np.random.default_rng(0).integers(0, 256, (40, 12, 12)).astype(np.uint8)
    views = ImageViews(images)
    flipped = Augmentation(flip=True)
    plain = views.plain(torch.arange(40), 12)
    seen = views.augmented(torch.arange(40), 12, flipped)
    kept = [torch.allclose(a, b, atol=1e-4) for a, b in zip(seen, plain, strict=True)]
    mirrored = [torch.allclose(a, b.flip(-1), atol=1e-4) for a, b in zip(seen, plain, strict=True)]
    assert all(a != b for a, b in zip(kept, mirrored, strict=True))
    assert any(kept)
    assert any(mirrored)
    moved = replace(flipped, shift=1, flip=False)
    inner = views.augmented(torch.arange(40), 12, moved)[:, :, 3:9, 3:9]
    shifts = [(i, j) for i in (2, 3, 4) for j in (2, 3, 4)]
    for got, image in zip(inner, plain, strict=True):
        assert any(
            torch.allclose(got, image[:, i : i + 6, j : j + 6], atol=1e-4) for i, j in shifts
        )


def test_images_of_a_wrong_shape_are_refused():
    with pytest.raises(InputError, match="images must be uint8"):
        ImageViews(np.zeros((3, 12, 10), np.uint8))
    with pytest.raises(InputError, match="float64"):
        ImageViews(np.zeros((3, 12, 12)))
