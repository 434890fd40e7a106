"""Checkpoints: what the window shows, as a small file that opens to the same plan again.

A checkpoint names its transcript and holds nothing of it: path, digest, which conversation, the
settings with pins and marks, the call and the selection. Never keys.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.policies import get_policy
from stm_inspector.buffer.settings import SettingError, Settings, build, to_json
from stm_inspector.conversation.errors import InputError
from stm_inspector.engine import write_beside

KIND = "stm-inspector checkpoint"
VERSION = 1
SUFFIX = ".stm.json"
_LARGEST = 4_000_000  # bytes; a checkpoint with a pin on every message stays far below


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is shown of which transcript.

    Attributes:
        file: the transcript; ``format`` and ``number`` which conversation of it, read as what.
        settings: with pins, marks and the call.
        counter, model: as on the command line.
        selection: the message that is selected, or None.
    """

    file: str
    format: str
    number: int
    settings: Settings
    counter: str = "auto"
    model: str | None = None
    selection: int | None = None


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether the file begins like a checkpoint; False as well if it cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(KIND) + 40)
    except OSError:
        return False
    return head.lstrip().startswith(b"{") and f'"kind": "{KIND}"'.encode() in head


def save_checkpoint(path: str | os.PathLike[str], checkpoint: Checkpoint) -> None:
    """Write ``checkpoint`` to ``path``. What was there is replaced.

    Raises:
        InputError: the transcript cannot be read, or ``path`` is it or cannot be written.
    """
    source = Path(checkpoint.file).resolve()
    if Path(path).resolve() == source:
        raise InputError(
            f"{source} is the recording itself, which is never overwritten: choose another name."
        )
    folder = Path(path).resolve().parent
    near = source.is_relative_to(folder)
    values = {
        "kind": KIND,
        "version": VERSION,
        "file": source.relative_to(folder).as_posix() if near else str(source),
        "sha256": _digest(source),
        "format": checkpoint.format,
        "conversation": checkpoint.number,
        "counter": checkpoint.counter,
        "model": checkpoint.model,
        "settings": _plain(checkpoint.settings),
        "selection": checkpoint.selection,
    }
    write_beside(path, json.dumps(values, indent=2) + "\n")


def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint, and find its transcript: where it was, or beside the checkpoint.

    Raises:
        InputError: it is damaged or of a later version, or its transcript is not there or has
            another content by now.
    """
    name = Path(path).name
    try:
        if os.path.getsize(path) > _LARGEST:
            raise ValueError("too large")
        stored = json.loads(Path(path).read_text("utf-8"))
        if stored["version"] > VERSION:
            raise InputError(
                f"{name} was saved by a later version of STM Inspector: open it with that one."
            )
        checkpoint = Checkpoint(
            file=str(stored["file"]),
            format=str(stored["format"]),
            number=_whole(stored["conversation"]),
            settings=_settings(stored["settings"]),
            counter=str(stored["counter"]),
            model=None if stored["model"] is None else str(stored["model"]),
            selection=None if stored["selection"] is None else _whole(stored["selection"]),
        )
        digest = str(stored["sha256"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{name} is a damaged checkpoint ({_what(error)}): save it again from the window."
        ) from error
    file = _find(Path(path), checkpoint.file, digest)
    return Checkpoint(**{**_values(checkpoint), "file": str(file)})


def _values(checkpoint: Checkpoint) -> dict[str, Any]:
    return {item.name: getattr(checkpoint, item.name) for item in fields(checkpoint)}


def _what(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, SettingError):
        return str(error)
    return "it is not as one is written"


def _find(path: Path, stored: str, digest: str) -> Path:
    """The transcript; the path of another system counts for its last part."""
    there = path.resolve().parent / stored
    beside = path.resolve().parent / stored.replace("\\", "/").rpartition("/")[2]
    known = [file for file in dict.fromkeys((there, beside)) if file.is_file()]
    if not known:
        raise InputError(
            f"{beside.name}, of which {path.name} is a checkpoint, is not there: put it beside "
            "the checkpoint."
        )
    for file in known:
        if _digest(file) == digest:
            return file
    raise InputError(
        f"{known[0]} has changed since {path.name} was saved: put the file as it was beside the "
        "checkpoint."
    )


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def _plain(settings: Settings) -> dict[str, Any]:
    """Settings as JSON values; the policy's own with their defaults written out."""
    values: dict[str, Any] = {}
    for item in fields(settings):
        value = getattr(settings, item.name)
        if isinstance(value, frozenset):
            value = sorted(value)
        elif isinstance(value, Budget):
            value = {part.name: getattr(value, part.name) for part in fields(value)}
        elif item.name == "options":
            value = to_json(build(get_policy(settings.policy).settings, value))
        elif isinstance(value, Mapping):
            value = {str(index): value[index] for index in sorted(value)}
        values[item.name] = value
    return values


def _settings(stored: Mapping[str, Any]) -> Settings:
    """The opposite of ``_plain``; what a later field is not there for is its default."""
    defaults, values = Settings(), dict(stored)
    values["budget"] = Budget(**values["budget"])
    values["pins"] = frozenset(map(_whole, values["pins"]))
    for name, value in values.items():
        if isinstance(getattr(defaults, name), Mapping) and name != "options":
            values[name] = {int(index): entry for index, entry in value.items()}
    build(get_policy(values["policy"]).settings, values["options"])
    return Settings(**values)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(value)
    return value
