"""The image study: the paper's models, ours, and the networks that made the features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpgc.errors import DataError
from gpgc_lab.comparison.runs import FIELDS
from gpgc_lab.datasets import load_images
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.images.image_figures import FeatureMap, draw_maps, draw_samples, map_features
from gpgc_lab.studies.images.image_scores import ImageScores, evaluate
from gpgc_lab.studies.images.image_tables import (
    OTHERS,
    accuracy_table,
    choice_table,
    graph_table,
    pretrained_table,
)
from gpgc_lab.studies.images.many_images import N_VECTORS, many_images_table
from gpgc_lab.studies.images.network_features import CONV_LARGE, FeatureKind, load_all_features
from gpgc_lab.studies.images.other_systems import other_systems
from gpgc_lab.tables import Table
from gpgc_lab.task import Task

RUNS = "images_runs.jsonl"


def images_study(
    data_dir: Path | None,
    folder: StudyFolder,
    progress: Callable[[str], None],
    seeds: int = 5,
    features: Path | None = None,
    n_vectors: int = N_VECTORS,
) -> tuple[list[Table], list[Path]]:
    """Return the tables of MNIST, SVHN and CIFAR-10, and the pictures that were written.

    Parameters
    ----------
    data_dir : Path, optional
        Where to look for the images first; without images only their samples are not drawn.
    folder : StudyFolder
        Folder for the pictures and for the runs of other systems.
    progress : callable
        Told what goes on.
    seeds : int
        Runs of each other system.
    features : Path, optional
        Folder with what ``gpgc train`` wrote; that of the laboratory when not given.
    n_vectors : int, default 60,000
        Made-up vectors of the table of seconds and memory.
    """
    made = load_all_features(features)
    scores: dict[FeatureKind, dict[str, ImageScores]] = {}
    maps: dict[FeatureKind, list[FeatureMap]] = {}
    command = f"gpgc reproduce images --seeds {seeds}"
    for kind, by_name in made.items():
        for name, one in by_name.items():

            def tell(step: str, kind: FeatureKind = kind) -> None:
                progress(f"{kind.name}, {step}")

            data, score = evaluate(name, one, tell)
            journal = folder.journal(RUNS, FIELDS)
            others = OTHERS[:1] if kind.is_pretrained else OTHERS
            score.accuracy |= other_systems(Task.of(data), others, seeds, journal, command, tell)
            scores.setdefault(kind, {})[name] = score
            if kind is not CONV_LARGE or len(made) == 1:
                tell(f"{name}: map of the features")
                maps.setdefault(kind, []).append(map_features(name, one, data.adjacency))
    progress(f"{n_vectors:,} made-up vectors")
    tables = [
        accuracy_table(scores, made),
        pretrained_table(scores, made),
        choice_table(scores),
        graph_table(scores),
        many_images_table(n_vectors),
    ]
    shown = [table for table in tables if table is not None]
    pictures: list[Path] = []
    classes: dict[str, tuple[str, ...]] = {}
    try:
        images = [load_images(name, data_dir) for name in made[CONV_LARGE]]
    except DataError as error:
        shown[0].notes.append(f"No samples of the images are drawn: {error}")
    else:
        classes = {data.name: data.classes for data in images}
        pictures += draw_samples(images, folder.out)
    for kind, drawn in maps.items():
        ending = "_pretrained" if kind.is_pretrained else ""
        pictures += draw_maps(drawn, classes, folder.out, ending)
    return shown, pictures
