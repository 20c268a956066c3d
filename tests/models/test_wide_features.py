"""Few entries in very many columns take little memory, whatever the links are."""

import subprocess
import sys

SCRIPT = """
import resource
import numpy as np, scipy.sparse as sp
from gpgc import GPGCClassifier

n, columns, n_links = 1500, 500_000, 60_000
rng = np.random.default_rng(0)
y = rng.integers(3, size=n)
words = 3 * rng.integers(columns // 3, size=(n, 20)) + y[:, None]
words[:, :4] = 3 * rng.integers(30, size=(n, 4)) + y[:, None]
rows = np.repeat(np.arange(n), 20)
X = sp.csr_array((np.ones(rows.size, np.float32), (rows, words.ravel())), shape=(n, columns))
ends = rng.integers(n, size=(2, n_links))
given = np.full(n, -1)
given[::10] = y[::10]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = GPGCClassifier(memory_limit="1GB").fit(X, given, adjacency=tuple(ends))
new = model.predict(X[:5], sp.csr_array(([1.0], ([0], [7])), shape=(5, n)))
taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(np.mean(model.predict() == y), taken / 2**20, model.approximations_)
"""


def test_half_a_million_sparse_columns_stay_within_the_memory_limit():
    run = [sys.executable, "-c", SCRIPT]
    found = subprocess.run(run, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    accuracy, gibibytes, *said = found.stdout.split(maxsplit=2)
    assert float(accuracy) > 0.9
    assert float(gibibytes) < 1
    assert "500,000 columns by 512 singular vectors" in said[0]
