"""Recorded conversations on disk: find out what a file is, read it, write what a plan leaves.

A format is one module with one class and one line in ``registry.all_formats``; nothing outside
this package knows a format's name.
"""

from stm_inspector.formats.base import Entry, Format
from stm_inspector.formats.registry import (
    Recording,
    all_formats,
    get_format,
    open_file,
    recording_of,
    write,
)

__all__ = [
    "Entry",
    "Format",
    "Recording",
    "all_formats",
    "get_format",
    "open_file",
    "recording_of",
    "write",
]
