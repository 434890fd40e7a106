"""The one error that a user's file can cause."""


class InputError(Exception):
    """Bad input, in one clear sentence: what is wrong, where, and what to do about it."""


class UnknownFormatError(InputError):
    """A file that looks like nothing known here; the user may know better which format it is."""
