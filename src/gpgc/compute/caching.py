"""Values that an object computes once and keeps, and that are no part of what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, overload

Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801 (used like property)
    """A property that is computed when first asked for, and kept.

    Unlike :class:`functools.cached_property`, which before Python 3.12 holds one lock for all
    instances of a class while it computes, it never waits: a thread that computes a layer may wait
    for threads that compute the same property of another layer.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> computed_once[Value] | Value:
        if instance is None:
            return self
        value = self.compute(instance)
        instance.__dict__[self.name] = value
        return value


class LeavesCachesBehind:
    """Copies and pickles of such an object hold what it was made of, not what it has computed.

    That is all but ``computed_once`` properties and the attributes that ``CACHES`` names.
    """

    CACHES: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        kind = type(self)
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in self.CACHES and not isinstance(getattr(kind, name, None), computed_once)
        }
