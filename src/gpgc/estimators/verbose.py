"""The parameter ``verbose`` of the estimators: progress of what takes more than two seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from gpgc.compute.progress import progress

Parameters = ParamSpec("Parameters")
Estimator = TypeVar("Estimator")
Result = TypeVar("Result")
Method = Callable[Concatenate[Estimator, Parameters], Result]


def shows_progress(
    task: str,
) -> Callable[[Method[Estimator, Parameters, Result]], Method[Estimator, Parameters, Result]]:
    """Return a decorator of methods that show their progress where ``self.verbose`` is true."""

    def decorate(
        method: Method[Estimator, Parameters, Result],
    ) -> Method[Estimator, Parameters, Result]:
        @wraps(method)
        def shown(self: Any, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            with progress(task, wanted=bool(self.verbose)):
                return method(self, *args, **kwargs)

        return shown

    return decorate
