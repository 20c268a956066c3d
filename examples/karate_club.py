"""Zachary's karate club split in two; who goes where, from the two leaders alone?"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np

from gpgc import GPGCClassifier, plot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")

club = nx.karate_club_graph()
truth = np.array([club.nodes[member]["club"] for member in club])
y = np.full(len(truth), None, dtype=object)
y[[0, 33]] = truth[[0, 33]]  # the instructor and the administrator

model = GPGCClassifier().fit(None, y, adjacency=club)
print(f"{np.sum(model.predict() == truth)} of {len(truth)} members right")

positions = nx.spring_layout(club, seed=3)
places = np.array([positions[member] for member in club])
axes = plot.node_map(model, positions=places)
for member in np.flatnonzero(model.predict() != truth):
    axes.annotate("in truth the other side", places[member], (-20, -14), textcoords="offset points")
axes.figure.savefig(folder / "karate_club.png", dpi=90)
