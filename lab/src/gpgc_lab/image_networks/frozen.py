"""Features of the image data sets from a network that was trained elsewhere."""

import time
from collections.abc import Callable

import numpy as np
import torch
from PIL import Image

from gpgc.image_features import FrozenNetwork
from gpgc.image_features.images import square
from gpgc_lab.datasets.feature_files import FeatureSet
from gpgc_lab.datasets.images import ImageDataset
from gpgc_lab.datasets.pixel_features import principal_components

_BATCH = 50

SIDES = {"mnist": 96, "svhn": 96, "cifar10": 192}
"""Size to which images are enlarged, chosen on validation labels."""


def frozen_features(
    data: ImageDataset,
    network: FrozenNetwork,
    components: int = 128,
    progress: Callable[[int, int], None] | None = None,
) -> FeatureSet:
    """Pass images through a frozen network and keep the leading principal components.

    Parameters
    ----------
    data : ImageDataset
    network : FrozenNetwork
        Images are enlarged to its ``side``.
    components : int, default 128
        Of the features of all images, so that the file stays small.
    progress : callable, optional
        Called with the number of images done and of all.
    """
    began, processor = time.perf_counter(), time.process_time()
    parts = []
    for start in range(0, len(data.images), _BATCH):
        batch = [
            square(Image.fromarray(image), network.side, network.channels)
            for image in data.images[start : start + _BATCH]
        ]
        parts.append(network.features(np.stack(batch)))
        if progress is not None:
            progress(start + len(batch), len(data.images))
    features = principal_components(np.concatenate(parts), components)
    provenance = {
        "method": f"{network.name} trained elsewhere, frozen; {components} principal components",
        "network": network.name,
        "network_digest": network.digest,
        "pretrained": True,
        "image_side": network.side,
        "components": components,
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "dataset": data.name,
        "labels_used": (
            "validation labels only to choose the size of the images; the network learnt from "
            "ImageNet's images and labels"
        ),
    }
    return FeatureSet(features, data.labels, data.train, data.validation, data.test, provenance)
