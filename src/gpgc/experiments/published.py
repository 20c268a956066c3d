"""The paper's own numbers, in per cent unless said otherwise; None where it gives none."""

CITATION = ("cora", "citeseer", "pubmed")

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
