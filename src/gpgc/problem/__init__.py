"""One way in: everything a user gives, by Python or by files, becomes one :class:`Problem`.

Every library of frames is reached through narwhals, which is imported when the first frame comes.
"""

from gpgc.problem.encoder import TableEncoder, encode_table
from gpgc.problem.graph_objects import GraphData, from_igraph, from_networkx, from_pyg
from gpgc.problem.node_table import NodeTable

__all__ = [
    "GraphData",
    "NodeTable",
    "TableEncoder",
    "encode_table",
    "from_igraph",
    "from_networkx",
    "from_pyg",
]
