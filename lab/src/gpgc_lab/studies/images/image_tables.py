"""The tables of the image study: accuracy, settings and graphs for each network's features."""

from __future__ import annotations

from collections.abc import Mapping

from gpgc_lab import published
from gpgc_lab.studies.images.image_scores import BEST, BROAD, FROZEN, NETWORK, ImageScores
from gpgc_lab.studies.images.network_features import (
    FeatureKind,
    Features,
    describe_features,
    time_of,
)
from gpgc_lab.studies.images.other_systems import accuracy_cell
from gpgc_lab.tables import Table

OTHERS = ("GCN", "GAT", "GGP", "GLCN", "GGP-X")
ROWS = (
    NETWORK,
    "GCN",
    "GAT",
    "GGP",
    "GLCN",
    "GPGC-small",
    "GPGC-big",
    BROAD,
    BEST,
    "GGP-X",
    FROZEN,
    "GPGC-X, noise again",
    f"{BROAD}, X",
    f"{BEST}, X",
)
TIME = "time of the processor for the features"

Scores = Mapping[FeatureKind, Mapping[str, ImageScores]]


def accuracy_table(scores: Scores, made: Features) -> Table:
    """Return the accuracies on features that were learnt from these images, side by side."""
    kinds = [kind for kind in scores if not kind.is_pretrained]
    table = Table(
        "images_accuracy",
        "Test accuracy on images, per cent: ours (paper's)",
        ["model", *(f"{name}, {kind.name}" for name in published.IMAGES for kind in kinds)],
        notes=[
            "Two networks learnt from the 1,000 training labels and the other images without "
            "theirs: Conv-Large by virtual adversarial training on images of half the size, as "
            "in the paper but for less time, and a compact one by pseudo-labels. Below each "
            "network all rows have the same features and graph of 10 nearest neighbours. Settings "
            "are chosen by validation accuracy less a tenth of the cross-entropy there, the "
            "network among small and big; test labels are looked at once. GPGC-X is big with the "
            "validation labels added, at frozen settings as in the paper, and with the noise "
            "chosen again by leaving each validation image out. The default model sees no "
            "validation label, its X form learns from them. Beside the default and its X form "
            "stand the paper's GPGC-big and GPGC-X. Rows without our number need "
            '`pip install "./lab[baselines]"`.',
            *(_count_runs(kind, scores[kind]) for kind in kinds),
            *_descriptions(made, kinds),
        ],
    )
    for row in ROWS:
        cells = [
            accuracy_cell(_values(scores[kind], name, row), _paper(row, place))
            for place, name in enumerate(published.IMAGES)
            for kind in kinds
        ]
        table.rows.append([row, *cells])
    times = [time_of(made[kind].get(name)) for name in published.IMAGES for kind in kinds]
    table.rows.append([TIME, *times])
    return table


def pretrained_table(scores: Scores, made: Features) -> Table | None:
    """Return the accuracies on features of networks that learnt elsewhere; None without such."""
    kinds = [kind for kind in scores if kind.is_pretrained]
    if not kinds:
        return None
    table = Table(
        "images_pretrained",
        "PRETRAINED elsewhere, not to be compared with the paper: test accuracy, per cent",
        ["model", *(f"{name}, {kind.name}" for name in published.IMAGES for kind in kinds)],
        notes=[
            "A network that learnt from other images and their labels (ImageNet) made the "
            "features, and nothing was trained here. Everything else is as in the table above.",
            *(_count_runs(kind, scores[kind]) for kind in kinds),
            *_descriptions(made, kinds),
        ],
    )
    for row in ROWS:
        values = [_values(scores[kind], name, row) for name in published.IMAGES for kind in kinds]
        if any(values):
            table.rows.append([row, *map(accuracy_cell, values)])
    times = [time_of(made[kind].get(name)) for name in published.IMAGES for kind in kinds]
    table.rows.append([TIME, *times])
    return table


def choice_table(scores: Scores) -> Table:
    """Return what was chosen for each row, and how that did on the validation images."""
    table = Table(
        "images_settings",
        "What was chosen, and its accuracy on the validation images, per cent",
        [
            "features",
            "model",
            "data set",
            "network",
            "settings",
            "noise / δ_W^L",
            "validation accuracy",
        ],
        notes=[
            "For rows that learn from validation labels each validation image was left out in turn."
        ],
    )
    for kind, by_name in scores.items():
        for name, score in by_name.items():
            for row, choice in score.choices.items():
                candidate = choice.candidate
                cells = [candidate.model, candidate.settings, f"{choice.noise:.3g}"]
                table.rows.append([kind.name, row, name, *cells, f"{100 * choice.accuracy:.1f}"])
    return table


def graph_table(scores: Scores) -> Table:
    """Return the numbers of edges, and seconds of the steps."""
    table = Table(
        "images_graphs",
        "Edges of the graphs of 10 nearest neighbours, and seconds on 10,000 images",
        [
            "features",
            "data set",
            "edges, 10 others",
            "edges, 9 others and itself",
            "edges, paper",
            "graph, s",
            "choice of models, noise and X, s",
            "default model, s",
        ],
    )
    for kind, by_name in scores.items():
        for name, score in by_name.items():
            seconds = [f"{score.seconds[step]:.1f}" for step in ("graph", "choice", "default")]
            paper = None if kind.is_pretrained else published.DATASETS[name][1]
            table.rows.append([kind.name, name, *score.edges, paper, *seconds])
    return table


def _values(by_name: Mapping[str, ImageScores], name: str, row: str) -> list[float]:
    return by_name[name].accuracy.get(row, []) if name in by_name else []


def _paper(row: str, place: int) -> float | None:
    """Return the paper's number that a row stands beside; that of GPGC-big for the default."""
    named = {BROAD: "GPGC-big", f"{BROAD}, X": "GPGC-X"}.get(row, row.partition(",")[0])
    known = published.IMAGE_ACCURACY.get(named)
    return None if known is None else known[place]


def _descriptions(made: Features, kinds: list[FeatureKind]) -> list[str]:
    return [
        f"Features of {name}, {kind.name}: {describe_features(one)}."
        for kind in kinds
        for name, one in made[kind].items()
    ]


def _count_runs(kind: FeatureKind, by_name: Mapping[str, ImageScores]) -> str:
    """Return how many runs are behind the rows of other systems."""
    counts = {
        system: [len(score.accuracy.get(system, [])) for score in by_name.values()]
        for system in OTHERS
    }
    most = max(map(max, counts.values()))
    fewer = [
        f"{system} {' / '.join(map(str, each))}"
        for system, each in counts.items()
        if min(each) < most
    ]
    words = f"Other systems on {kind.name}: mean ± standard deviation over {most} seeds"
    return words + (f", but {', '.join(fewer)}." if fewer else ".")
