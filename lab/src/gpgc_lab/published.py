"""Published numbers, in per cent unless said otherwise: the paper's, then those of others."""

CITATION = ("cora", "citeseer", "pubmed")
IMAGES = ("mnist", "svhn", "cifar10")

DATASETS = {
    "citeseer": (3327, 4732, 6, 3703, 0.036),
    "cora": (2708, 5429, 7, 1433, 0.052),
    "pubmed": (19717, 44338, 3, 500, 0.003),
    "mnist": (10000, 65403, 10, 128, 0.1),
    "svhn": (10000, 68844, 10, 128, 0.1),
    "cifar10": (10000, 70391, 10, 128, 0.1),
}
"""Table 1: nodes, edges, classes, features, label rate."""

HYPER_PARAMETERS = {
    "small": {"cora": (0.010, "K_AC"), "citeseer": (0.017, "K_IP"), "pubmed": (0.075, "K_PL^0.5")},
    "big": {"cora": (0.137, "K_AC"), "citeseer": (0.082, "K_IP"), "pubmed": (0.35, "K_PL^0.5")},
}
"""Table 2: δ_W and K_θ."""

CITATION_ACCURACY: dict[str, tuple[float | None, float | None, float | None]] = {
    "LP": (68.0, 45.3, 63.0),
    "SemiEmb": (59.0, 59.6, 71.1),
    "ManiReg": (59.5, 60.1, 70.7),
    "DeepWalk": (67.2, 43.2, 65.3),
    "Planetoid": (75.7, 64.7, 77.2),
    "ICA": (75.1, 69.1, 73.9),
    "DCNN": (76.8, None, 73.0),
    "GCN": (81.5, 70.3, 79.0),
    "MoNet": (81.7, None, 78.8),
    "GGP": (80.9, 69.7, 77.1),
    "GAT": (83.0, 72.5, 79.0),
    "GPGC-small": (81.2, 72.0, 78.0),
    "GPGC-big": (83.6, 72.1, 79.6),
    "GGP-X": (84.7, 75.6, 82.4),
    "GPGC-X": (86.0, 76.9, 83.8),
}
"""Table 3: accuracy on Cora, Citeseer and Pubmed."""

IMAGE_ACCURACY: dict[str, tuple[float, float, float]] = {
    "GCN": (98.6, 88.6, 70.2),
    "GAT": (98.7, 88.4, 64.9),
    "GGP": (98.6, 83.9, 70.2),
    "GLCN": (94.3, 79.1, 66.7),
    "GPGC-small": (98.8, 89.1, 70.9),
    "GPGC-big": (98.9, 88.8, 72.1),
    "GGP-X": (98.6, 88.5, 70.1),
    "GPGC-X": (98.9, 89.1, 72.6),
}
"""Table 4: accuracy on MNIST, SVHN and CIFAR10."""

SECONDS: dict[str, dict[str, tuple[float, float]]] = {
    "cora": {
        "GCN": (4.1, 0.01),
        "GGP": (99.1, 3.51),
        "GAT": (862.4, 0.35),
        "GPGC-big": (1.0, 0.04),
    },
    "citeseer": {
        "GCN": (5.9, 0.01),
        "GGP": (1611.9, 7.12),
        "GAT": (2073.0, 1.02),
        "GPGC-big": (1.4, 0.04),
    },
    "pubmed": {
        "GCN": (43.8, 0.10),
        "GGP": (2429.0, 111.06),
        "GAT": (1721.1, 1.22),
        "GPGC-big": (46.2, 0.09),
    },
}
"""Table 5: seconds of training and of testing on one core."""

WIDTHS = (16, 64, 256)
WIDTH_ACCURACY: dict[str, tuple[float, float, float, float]] = {
    "cora": (81.5, 82.2, 83.0, 83.6),
    "citeseer": (69.7, 70.9, 71.0, 72.1),
    "pubmed": (79.0, 79.3, 79.3, 79.6),
}
"""Table 6: accuracy of a GCN with so many hidden units, and with infinitely many."""

LABEL_COUNTS = (200, 600, 1000)
LABEL_ACCURACY: dict[str, dict[str, tuple[float, float, float]]] = {
    "mnist": {
        "GCN": (98.4, 98.6, 98.6),
        "GPGC-big": (98.5, 98.8, 98.9),
        "GPGC-X": (98.6, 98.8, 99.0),
    },
    "svhn": {
        "GCN": (87.7, 88.3, 88.6),
        "GPGC-big": (88.1, 88.7, 88.8),
        "GPGC-X": (88.6, 89.0, 89.1),
    },
    "cifar10": {
        "GCN": (67.4, 69.4, 70.2),
        "GPGC-big": (67.3, 70.4, 72.1),
        "GPGC-X": (72.1, 72.1, 72.6),
    },
}
"""Table 7: accuracy with so many labelled images."""

GRAPHS: dict[tuple[str, str, str], dict[str, float]] = {
    ("chameleon", "own masks", "accuracy"): {"GraphAny": 63.6, "GOBLIN": 73.0},
    ("actor", "own masks", "accuracy"): {
        "logistic regression on X": 34.5,
        "GAT": 32.6,
        "NodePFN": 35.6,
    },
    ("minesweeper", "own masks", "area_under_curve"): {"GCN": 89.8, "no graph": 51.0},
    ("texas", "own masks", "accuracy"): {"GAT": 81.6},
    ("cora", "5 a class", "accuracy"): {"GILT": 73.2},
    ("citeseer", "5 a class", "accuracy"): {"GILT": 66.2},
    ("pubmed", "5 a class", "accuracy"): {"GILT": 71.9},
    ("cora", "1 a class", "accuracy"): {"GILT": 56.4},
}
"""Other authors' numbers, not the paper's: (graph, labels, measure) → system → per cent.

Masks 0 and 1 of the four graphs that have masks; the area under the ROC curve for minesweeper.
"""


def accuracy(dataset: str, system: str) -> float | None:
    """Return the paper's accuracy of a system on a data set, where it gives one.

    Examples
    --------
    >>> accuracy("cora", "GCN-64"), accuracy("mnist", "GLCN"), accuracy("citeseer", "DCNN")
    (82.2, 94.3, None)
    """
    if dataset in IMAGES and system in IMAGE_ACCURACY:
        return IMAGE_ACCURACY[system][IMAGES.index(dataset)]
    if dataset not in CITATION:
        return None
    if system in CITATION_ACCURACY:
        return CITATION_ACCURACY[system][CITATION.index(dataset)]
    name, _, width = system.partition("-")
    if name == "GCN" and width in map(str, WIDTHS):
        return WIDTH_ACCURACY[dataset][WIDTHS.index(int(width))]
    return None
