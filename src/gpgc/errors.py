"""Errors and warnings that gpgc raises on purpose."""


class InputError(ValueError):
    """An argument or a file that does not fit; the message names it, what was expected and came."""


class DataError(RuntimeError):
    """A data set that is missing, damaged or cannot be fetched."""


class GPGCWarning(UserWarning):
    """A result that is valid but that the user should know something about."""
