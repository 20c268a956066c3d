"""What the report contains, in its order; every study is imported when it is made."""

from __future__ import annotations

from gpgc_lab import published
from gpgc_lab.locations import StudyFolder
from gpgc_lab.report.study_sections import (
    CompareStudy,
    Made,
    Progress,
    ReportOptions,
    RuntimeStudy,
    Study,
    TableStudy,
)

RANDOM_SPLITS = 20
ERROR_SEEDS = 5
INTERVAL_SEEDS = 20
ACTIVE_RUNS = 10
GRAPH_SEEDS = 10

DRAWS = 100
"""Random networks of each width."""


def _citation(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.citation import citation_tables

    return citation_tables(options.data_dir, RANDOM_SPLITS, progress), []


def _calibration(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.calibration.calibration_study import calibration_study

    return calibration_study(options.data_dir, RANDOM_SPLITS, folder, progress)


def _active(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.active import active_study

    return active_study(options.data_dir, ACTIVE_RUNS, folder, progress)


def _errors(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.label_errors import errors_study

    return errors_study(options.data_dir, ERROR_SEEDS, folder, progress)


def _intervals(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.intervals import intervals_study

    return intervals_study(INTERVAL_SEEDS, folder, progress)


def _framework(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.framework import draw_framework

    progress("framework")
    return [], draw_framework(folder.out)


def _images(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.images.image_study import images_study

    return images_study(options.data_dir, folder, progress, options.n_seeds)


def _labels(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.images.few_labels import labels_study

    return labels_study(options.data_dir, folder, progress, options.n_seeds)


def _width(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.width import width_study

    return width_study(options.data_dir, options.n_seeds, folder, progress)


def _networks(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.networks import networks_study

    return networks_study(options.data_dir, RANDOM_SPLITS, DRAWS, folder, progress), []


def _graphs(options: ReportOptions, folder: StudyFolder, progress: Progress) -> Made:
    from gpgc_lab.studies.graphs.graph_study import graphs_study, make_plan

    return graphs_study(options.data_dir, make_plan(n_seeds=GRAPH_SEEDS), folder, progress), []


STUDIES: tuple[Study, ...] = (
    TableStudy(
        "framework",
        "The framework",
        "A graph with few labels, the posterior of the Gaussian process, labels for all nodes.",
        "gpgc reproduce framework",
        ("framework",),
        _framework,
    ),
    TableStudy(
        "citation",
        "Citation networks",
        "The paper's models by its protocol, and the default model of this package beside them.",
        f"gpgc reproduce citation --random-splits {RANDOM_SPLITS}",
        (),
        _citation,
    ),
    *(CompareStudy(name) for name in published.CITATION),
    TableStudy(
        "images",
        "Images",
        "Images as nodes, with edges to their nearest neighbours by features.",
        "gpgc reproduce images",
        (
            "image_samples",
            "image_features",
            "image_uncertainty",
            "image_features_pretrained",
            "image_uncertainty_pretrained",
        ),
        _images,
    ),
    TableStudy(
        "labels",
        "Images with fewer labels",
        "Accuracy with 200, 600 and 1,000 labelled images.",
        "gpgc reproduce labels",
        (),
        _labels,
    ),
    RuntimeStudy(),
    TableStudy(
        "width",
        "Wider and wider networks",
        "Accuracy as hidden units are added, and how fast random networks approach the limit.",
        "gpgc reproduce width",
        ("width",),
        _width,
    ),
    TableStudy(
        "networks",
        "Other infinitely wide networks",
        "Beyond the paper: five architectures and the tangent kernels of all, with defaults.",
        f"gpgc reproduce networks --random-splits {RANDOM_SPLITS} --draws {DRAWS}",
        (),
        _networks,
    ),
    TableStudy(
        "graphs",
        "Graphs of all kinds",
        "Beyond the paper: the default beside what needs no training, with few labels and many.",
        f"gpgc reproduce graphs --seeds {GRAPH_SEEDS}",
        (),
        _graphs,
    ),
    TableStudy(
        "calibration",
        "How far probabilities can be trusted",
        "Beyond the paper: calibration, prediction sets, and nodes that do not belong.",
        f"gpgc reproduce calibration --random-splits {RANDOM_SPLITS}",
        ("reliability", "risk_coverage", "standard_deviations"),
        _calibration,
    ),
    TableStudy(
        "active",
        "What to label next",
        "Beyond the paper: accuracy against the number of labels, by how they are chosen.",
        f"gpgc reproduce active --runs {ACTIVE_RUNS}",
        ("labelling_curve",),
        _active,
    ),
    TableStudy(
        "errors",
        "Wrong labels",
        "Beyond the paper: flipped labels that are found, beside cleanlab's ranking.",
        f"gpgc reproduce errors --seeds {ERROR_SEEDS}",
        (),
        _errors,
    ),
    TableStudy(
        "intervals",
        "Intervals of numbers",
        "Beyond the paper: how often intervals hold values that were kept out.",
        f"gpgc reproduce intervals --seeds {INTERVAL_SEEDS}",
        (),
        _intervals,
    ),
)
