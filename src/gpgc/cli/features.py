"""`gpgc features`: features of images by a trained network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpgc.cli.options import (
    JsonOption,
    QuietOption,
)


def features(
    source: Annotated[
        Path, typer.Argument(help="Folder of images, or a table with the column path.")
    ],
    network: Annotated[
        str, typer.Option(help="efficientnet-lite0 ... 4, a torch file, or a model of timm.")
    ],
    out: Annotated[Path, typer.Option(help="The .npz to write, for --features.")],
    side: Annotated[
        int | None,
        typer.Option(min=1, help="Pixels to which images are scaled; else as in its training."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Images at a time.")] = 32,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make features of your own images with a trained network (extra images).

    Images that cannot be read are named and left out. A call that was interrupted goes on.
    """
    from gpgc.cli.image_features import features_of_images
    from gpgc.cli.output import show

    show(features_of_images(source, network, out, side, batch_size), as_json, quiet)
