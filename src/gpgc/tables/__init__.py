"""Tables of nodes: frames, columns of files, and the encoder that makes numbers of them.

Every library of frames is reached through narwhals, which is imported when the first frame comes.
"""

from gpgc.tables.encoder import TableEncoder, encode_table
from gpgc.tables.graph_objects import GraphData, from_igraph, from_networkx, from_pyg
from gpgc.tables.node_table import NodeTable

__all__ = [
    "GraphData",
    "NodeTable",
    "TableEncoder",
    "encode_table",
    "from_igraph",
    "from_networkx",
    "from_pyg",
]
