"""scikit-learn's face on the Gaussian process."""

from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.estimators.storage import load

__all__ = ["GPGCClassifier", "GPGCRegressor", "load"]
