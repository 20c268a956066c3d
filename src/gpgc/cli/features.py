"""`gpgc features`: features of images by a trained network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpgc.cli.command import REQUIRED, Shown, argument, option


@dataclass(frozen=True, kw_only=True)
class Features(Shown):
    """Make features of your own images with a trained network (extra images).

    Images that cannot be read are named and left out. A call that was interrupted goes on.
    """

    source: Path = argument(REQUIRED, "Folder of images, or a table with the column path.")
    network: str = option(REQUIRED, "efficientnet-lite0 ... 4, or a model of timm.")
    out: Path = option(REQUIRED, "The .npz to write, for --features.")
    side: int | None = option(
        None, "Pixels to which images are scaled; else as in its training.", min=1
    )
    batch_size: int = option(32, "Images at a time.", min=1)

    def run(self) -> None:
        """List, load, extract, show."""
        import time

        from gpgc.cli.output import check_out, show
        from gpgc.compute.progress import progress
        from gpgc.image_features import extract_features, list_images, load_network

        check_out(self.out, [self.source])
        images, frozen = list_images(self.source), load_network(self.network, self.side)
        start = time.perf_counter()
        with progress("features") as meter:

            def report(done: int, count: int) -> None:
                meter.announce(f"{done} of {count} images")
                meter.done(done, count)

            size = self.batch_size
            made = extract_features(images, frozen, self.out, batch_size=size, progress=report)
        said = {
            "dataset": str(self.source),
            "network": f"{frozen.name}, images of {frozen.side} pixels",
            "images": len(made.ids),
            "features": made.features.shape[1],
            "skipped": list(made.skipped.values()) or None,
            "seconds": time.perf_counter() - start,
            "out": str(self.out),
        }
        show(said, self)
