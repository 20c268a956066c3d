"""Files from outside and files of our own: arrays, sparse matrices, tables, journals, writes.

Imports only NumPy, SciPy and the standard library; every other package may use it.
"""

from gpgc.files.arrays import pack_npz, read_npy, read_npz
from gpgc.files.atomic import write_file
from gpgc.files.journal import Journal
from gpgc.files.memory import parse_bytes, physical_memory
from gpgc.files.sparse import canonical_csr, checked_csr, pack_sparse, read_sparse, unpack_sparse
from gpgc.files.tables import STANDARD_STREAM, Table, read_table

__all__ = [
    "STANDARD_STREAM",
    "Journal",
    "Table",
    "canonical_csr",
    "checked_csr",
    "pack_npz",
    "pack_sparse",
    "parse_bytes",
    "physical_memory",
    "read_npy",
    "read_npz",
    "read_sparse",
    "read_table",
    "unpack_sparse",
    "write_file",
]
