"""The default model on a cluster: the same blocks as on one machine, mapped over partitions."""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("gpgc.dask needs the extra dask: pip install 'gpgc[dask]'") from error

from gpgc.dask.estimators import DaskGPGCClassifier, DaskGPGCRegressor

__all__ = ["DaskGPGCClassifier", "DaskGPGCRegressor"]
