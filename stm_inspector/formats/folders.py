"""Folders that are one recording: a file in them, or a file an event.

A layout is a line in ``_FILES`` (the file that is the recording) or in ``_EVENTS`` (a pattern of
files, each with one JSON value, in the order of their names).
"""

from __future__ import annotations

from pathlib import Path

from stm_inspector.conversation.errors import InputError

MAX_FILES = 100_000
MAX_READ = 1 << 30
"""Bytes of all files that are read."""

_FILES = ("api_conversation_history.json",)
"""Of a task of Cline or Roo."""

_EVENTS = ("events/event-*.json", "event-*.json", "events/[0-9]*.json")
"""Of OpenHands: version 1 (a conversation, or its events), version 0."""


def recording_in(folder: Path) -> Path | str:
    """The file that is the recording of ``folder``, or the text of its events.

    Raises:
        InputError: it has no layout that is known here, or is larger than is allowed.
    """
    try:
        for name in _FILES:
            if (folder / name).is_file():
                return folder / name
        for pattern in _EVENTS:
            files = [path for path in folder.glob(pattern) if path.is_file()]
            if files:
                return _joined(folder, files)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{folder} could not be read: {reason}.") from None
    raise InputError(f"{folder} is a folder: open one of the files in it.")


def _joined(folder: Path, files: list[Path]) -> str:
    if len(files) > MAX_FILES:
        raise InputError(
            f"{folder} holds {len(files):,} events (at most {MAX_FILES:,}): move some."
        )
    texts, left = [], MAX_READ
    for path in sorted(files, key=_place):
        left -= path.stat().st_size
        if left < 0:
            limit = MAX_READ >> 20
            raise InputError(f"{folder} holds more than {limit:,} MiB of events: move some.")
        texts.append(path.read_text(encoding="utf-8-sig", errors="replace"))
    return "\n".join(texts)


def _place(path: Path) -> tuple[int, str]:
    """``event-00012-<id>.json`` and ``12.json`` come twelfth."""
    digits = path.stem.removeprefix("event-").split("-")[0]
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else 0
    return number, path.name
