"""An estimator's learner makes its certificate when it is asked for, also after it was stored and loaded."""

from __future__ import annotations

import pickle

import numpy as np
from sklearn.datasets import make_blobs

from graspel import GRASPEL, GraspelClustering


def test_the_certificate_of_an_estimators_learner():
    X, _ = make_blobs(200, 4, centers=3, random_state=0)
    model = pickle.loads(pickle.dumps(GraspelClustering(3, random_state=0).fit(X)))
    found = model.learner_.certificate_
    alone = GRASPEL(2, max_iter=0, random_state=0).fit(X).certificate_
    assert found.connected
    assert (found.n_edges, found.density, found.neighbor_recall) == (alone.n_edges, alone.density, 1.0)
    assert np.isclose(found.objective, alone.objective)
