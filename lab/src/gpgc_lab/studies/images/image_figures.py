"""Pictures of the images: samples, maps of their features by class, and by uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.estimators import GPGCClassifier
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.datasets import ImageDataset
from gpgc_lab.datasets.feature_files import FeatureSet
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure

PER_CLASS = 10
N_DRAWN = 2_000
"""Images on a map; more would hide each other."""

CROWD = 30
CLASS_COLOURS = (*PALETTE, "#882255", "#999999")
TITLES = {"mnist": "MNIST", "svhn": "SVHN", "cifar10": "CIFAR-10"}


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A plane in which images with similar features are near each other.

    Attributes
    ----------
    name : str
        Of the data set.
    points : array of shape (n, 2)
        Places of the drawn images.
    labels : int array of shape (n,)
        Their classes.
    uncertainty : array of shape (n,)
        Entropy of the class probabilities as a share of the largest possible.
    wrong : bool array of shape (n,)
        Whether the default model, given the training labels, errs on a test image.
    """

    name: str
    points: Array
    labels: Integers
    uncertainty: Array
    wrong: NDArray[np.bool_]


def draw_samples(sets: list[ImageDataset], folder: Path) -> list[Path]:
    """Draw ten images of each class in a row, a panel a data set; PNG and SVG."""
    figure, axes = _panels([data.name for data in sets])
    for axis, data in zip(axes, sets, strict=True):
        sheet = contact_sheet(data)
        side = sheet.shape[0] / len(data.classes)
        axis.imshow(sheet, cmap="gray", interpolation="none")
        rows = side * (np.arange(len(data.classes)) + 0.5) - 0.5
        axis.set_yticks(rows, data.classes)
        axis.tick_params(length=0)
    return save_figure(figure, folder, "image_samples")


def contact_sheet(data: ImageDataset) -> NDArray[np.uint8]:
    """Return the first ten training images of each class as one picture, a row a class."""
    rows = []
    for label in range(len(data.classes)):
        chosen = data.train[data.labels[data.train] == label][:PER_CLASS]
        rows.append(np.concatenate(list(data.images[chosen]), axis=1))
    return np.concatenate(rows)


def map_features(name: str, made: FeatureSet, graph: Any) -> FeatureMap:
    """Place a sample of the images by t-SNE of their features, and judge them by the default model.

    Parameters
    ----------
    name : str
        Of the data set.
    made : FeatureSet
        Features, labels and split.
    graph : csr_array of shape (N, N)
        Neighbour graph of all images.
    """
    from sklearn.manifold import TSNE

    y = np.full(len(made.labels), -1)
    y[made.train] = made.labels[made.train]
    estimator = GPGCClassifier().fit(made.features, y, adjacency=graph)
    probabilities = estimator.predict_proba()
    entropy = -np.sum(probabilities * np.log(np.maximum(probabilities, 1e-12)), axis=1)
    is_test = np.isin(np.arange(len(y)), made.test)
    wrong = is_test & (estimator.predict() != made.labels)
    rng = np.random.default_rng(0)
    drawn = rng.permutation(len(y))[:N_DRAWN]
    place: Any = TSNE(init="pca", perplexity=min(30, len(drawn) // 4), random_state=0)
    points = place.fit_transform(made.features[drawn])
    share = entropy / np.log(probabilities.shape[1])
    return FeatureMap(name, points, made.labels[drawn], share[drawn], wrong[drawn])


def draw_maps(
    maps: list[FeatureMap], classes: dict[str, tuple[str, ...]], folder: Path, ending: str = ""
) -> list[Path]:
    """Draw the maps by class, and again by uncertainty with the errors marked; PNG and SVG.

    Parameters
    ----------
    maps : list of FeatureMap
        A panel each.
    classes : dict
        Names of the classes of a data set; numbers where it is not there.
    folder : Path
        Where to write.
    ending : str, default ""
        Of the file names.
    """
    by_class = _draw_classes(maps, classes, folder, f"image_features{ending}")
    return [*by_class, *_draw_uncertainty(maps, folder, f"image_uncertainty{ending}")]


def _draw_classes(
    maps: list[FeatureMap], classes: dict[str, tuple[str, ...]], folder: Path, file: str
) -> list[Path]:
    import matplotlib.patheffects as effects

    figure, axes = _panels([one.name for one in maps])
    outline = [effects.withStroke(linewidth=3, foreground="white")]
    for axis, one in zip(axes, maps, strict=True):
        names = classes.get(one.name)
        for label, place in _homes(one).items():
            points = one.points[one.labels == label]
            axis.scatter(
                *points.T,
                s=9,
                c=CLASS_COLOURS[label % len(CLASS_COLOURS)],
                marker=MARKERS[label % len(MARKERS)],
                alpha=0.6,
                linewidths=0,
                rasterized=True,
            )
            title = names[label] if names else str(label)
            text = axis.text(*place, title, ha="center", va="center", weight="bold", zorder=3)
            text.set_path_effects(outline)
    return save_figure(figure, folder, file)


def _homes(one: FeatureMap) -> dict[int, Array]:
    """Return for each class the place with most of its images around, where its name is put."""
    from scipy.spatial import KDTree

    near = KDTree(one.points).query(one.points, min(CROWD, len(one.points)))[1]
    alike = (one.labels[near] == one.labels[:, None]).sum(axis=1)
    return {
        int(label): one.points[np.where(one.labels == label, alike, -1).argmax()]
        for label in np.unique(one.labels)
    }


def _draw_uncertainty(maps: list[FeatureMap], folder: Path, file: str) -> list[Path]:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure, axes = _panels([one.name for one in maps])
    colours = ScalarMappable(Normalize(0, 1), "cividis_r")
    for axis, one in zip(axes, maps, strict=True):
        order = np.argsort(one.uncertainty)
        axis.scatter(
            *one.points[order].T,
            c=colours.to_rgba(one.uncertainty[order]),
            s=6,
            linewidths=0,
            rasterized=True,
        )
        axis.scatter(
            *one.points[one.wrong].T,
            facecolors="none",
            edgecolors=PALETTE[5],
            s=20,
            linewidths=0.6,
            rasterized=True,
        )
        axis.set_xlabel(f"{one.wrong.sum():,} errors (rings) among {len(one.points):,} images")
    figure.colorbar(
        colours, ax=axes, label="entropy of the class probabilities, 1: nothing is known"
    )
    return save_figure(figure, folder, file)


def _panels(names: list[str]) -> tuple[Any, list[Any]]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = 4.6 * len(names), 4.8
    figure, axes = plt.subplots(1, len(names), figsize=size, layout="constrained", squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        axis.set(title=TITLES[name], xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    return figure, list(axes[0])
