"""Why a node was labelled, as journals and the column ``role`` of a file of labels say it."""

from __future__ import annotations

from typing import Literal

Role = Literal["suggested", "audit", "closing", "chosen", "imported"]

RANDOM_ROLES: tuple[Role, ...] = ("audit", "closing")
"""Roles of nodes that were drawn at random."""
