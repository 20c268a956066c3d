"""DeepWalk: skip-gram embeddings of random walks, then logistic regression.

References
----------
Perozzi, Al-Rfou and Skiena, *DeepWalk: online learning of social representations* (2014).
"""

from __future__ import annotations

from time import process_time

import numpy as np
from gensim.models import Word2Vec
from numpy.typing import NDArray

from gpgc_lab.baselines.classical import LinearClassifier, one_against_rest
from gpgc_lab.baselines.walks import random_walks
from gpgc_lab.problem import Prediction, Problem


def run(
    problem: Problem,
    seed: int,
    *,
    walks: int = 10,
    length: int = 40,
    size: int = 128,
    window: int = 10,
) -> Prediction:
    """Embed the nodes without their features, then learn from the training labels.

    Parameters
    ----------
    problem : Problem
        The graph and its labels; features and validation labels are not looked at.
    seed : int
        Of the walks and the embedding.
    walks, length : int
        Walks from each node, and nodes of a walk.
    size, window : int
        Numbers of an embedding, and how far apart on a walk nodes see each other.

    Returns
    -------
    Prediction
        Probabilities of the logistic regression.
    """
    start = process_time()
    embedding = _embedding(problem, seed, walks, length, size, window)
    known = problem.labels[problem.train]
    classifier = LinearClassifier.fit(embedding[problem.train], known, problem.n_classes)
    trained = process_time()
    probabilities = one_against_rest(classifier.logits(embedding))
    return Prediction(probabilities, trained - start, process_time() - trained)


def _embedding(
    problem: Problem, seed: int, walks: int, length: int, size: int, window: int
) -> NDArray[np.float32]:
    """Return an embedding (N, size) by skip-gram with a hierarchical softmax."""
    rng = np.random.default_rng(seed)
    n_nodes = len(problem.labels)
    starts = np.concatenate([rng.permutation(n_nodes) for _ in range(walks)])
    names = np.array([str(node) for node in range(n_nodes)], dtype=object)
    model = Word2Vec(
        names[random_walks(problem.adjacency, starts, length - 1, rng)].tolist(),
        vector_size=size,
        window=window,
        sg=1,
        hs=1,
        negative=0,
        sample=0,
        min_count=0,
        epochs=1,
        workers=1,
        seed=seed,
    )
    return np.asarray(model.wv[names.tolist()], dtype=np.float32)
