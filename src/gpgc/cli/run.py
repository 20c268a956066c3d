"""`gpgc run`: the whole job on a known data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpgc.cli.options import (
    ActivationOption,
    DepthOption,
    JsonOption,
    KernelOption,
    LearnOption,
    ModelOption,
    NoiseOption,
    QuietOption,
    TangentOption,
    settings_of,
)


def run(
    dataset: Annotated[
        str,
        typer.Argument(
            help="digits (no download), cora, citeseer, pubmed, mnist, svhn or cifar10."
        ),
    ] = "digits",
    features: Annotated[
        str | None,
        typer.Option(
            help="Of images: pca (the default), pixels; with gpgc-lab conv-large, compact or "
            "pretrained; or an .npz that gpgc train wrote."
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the data; else $GPGC_DATA, the cache, a download."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split, where it is drawn.")] = 0,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    activation: ActivationOption = "relu",
    kernel: TangentOption = "nngp",
    learn: LearnOption = False,
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run the whole job on a known data set and print what came out."""
    from gpgc.cli.jobs import run_dataset
    from gpgc.cli.output import show

    settings = settings_of(model, base_kernel, depth, noise, activation, kernel, learn)
    show(run_dataset(dataset, data_dir, seed, features, settings), as_json, quiet)
