"""``gpgc features``: a folder of images to a file of features, with the time left."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gpgc.cli.files import check_out
from gpgc.compute.progress import progress
from gpgc.image_features import extract_features, list_images, load_network


def features_of_images(
    source: Path, network: str, out: Path, side: int | None, batch_size: int
) -> dict[str, Any]:
    """Write the features and return what was done, ready to be shown."""
    check_out(out, [source])
    images = list_images(source)
    frozen = load_network(network, side)
    start = time.perf_counter()
    with progress("features") as meter:

        def report(done: int, count: int) -> None:
            meter.announce(f"{done} of {count} images")
            meter.done(done, count)

        made = extract_features(images, frozen, out, batch_size=batch_size, progress=report)
    return {
        "dataset": str(source),
        "network": f"{frozen.name}, images of {frozen.side} pixels",
        "images": len(made.ids),
        "features": made.features.shape[1],
        "skipped": list(made.skipped.values()) or None,
        "seconds": time.perf_counter() - start,
        "out": str(out),
    }
