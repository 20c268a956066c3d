"""What the diffusion in blocks moves, computed."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed", reason="needs the extra dask of gpgc")

from gpgc.models.graph_view import STEPS
from gpgc_lab.speed.cluster import BLOCK, N_FEATURES, REACH, diffusion_costs


def test_near_links_move_the_ends_of_blocks_alone():
    blocks, _, moved, *_ = diffusion_costs(4 * BLOCK, "near")
    assert blocks == 4
    assert moved == pytest.approx(STEPS * 2 * REACH * 3 * N_FEATURES * 4 / 1e9)


def test_a_random_graph_moves_hundreds_of_times_more():
    near, random = (diffusion_costs(10**7, kind)[2] for kind in ("near", "random"))
    assert random > 300 * near
