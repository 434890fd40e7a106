"""A file as text and as the JSON values in it: one, or one a line."""

from __future__ import annotations

import codecs
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Skipped
from stm_inspector.formats import archive, database, folders
from stm_inspector.formats.values import OPENED, TOO_DEEP, Node, Unreadable, Walker, skip

MAX_BYTES = 1 << 30
"""Larger files are refused: text and values together need about six times their size."""

_MAGIC = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)

_SPACE_OR_NUL = re.compile(r"[ \t\n\r\0]*")
"""A file system that lost power leaves blocks of NUL in a log."""

_EVENTS = re.compile(r"\s*(?:event|data|id|retry)?:")
_BETWEEN_EVENTS = re.compile(
    r"(?:[ \t\n\r\0]|(?:event|id|retry)?:[^\n]*|data:[ \t]*(?:\[DONE\])?)*"
)
"""What stands before the values in a stream of server-sent events.
https://html.spec.whatwg.org/multipage/server-sent-events.html"""

_TEXT_LOG = re.compile(r"\s*# aider chat started at ")
"""How a log begins that is text. JSON may stand in it, but does not make it."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: one JSON value, or one a line.

    Attributes:
        records: the values at the outermost level, in order; none where the file is a log of text.
        skipped: what could not be read.
        notes: what the user should know about the file as such, one sentence each.
    """

    path: str
    text: str
    records: tuple[Node, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return Path(self.path).name


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read the file at ``path``, or the folder that is one recording.

    Raises:
        InputError: there is no such file, it may not be read, or it holds no JSON at all.
    """
    if Path(path).is_dir():
        inside = folders.recording_in(Path(path))
        return read_document(inside) if isinstance(inside, Path) else parse(inside, os.fspath(path))
    data = _read_bytes(Path(path))
    if database.is_database(data):
        return parse(database.json_of(Path(path)), os.fspath(path))
    return parse(_decode(data, Path(path).name), os.fspath(path))


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file: save the conversation to a file.")
        if status.st_size > MAX_BYTES:
            size = status.st_size / (1 << 30)
            raise InputError(f"{path.name} is too large ({size:.1f} GiB; at most 1 GiB): split it.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: it was moved, or the name is wrong.") from None
    except PermissionError:
        raise InputError(f"{path} may not be read: change its permissions or copy it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} could not be read: {reason}.") from None
    if not data or data.isspace():
        raise InputError(f"{path.name} is empty: there is no conversation in it.")
    return data


def _decode(data: bytes, name: str) -> tuple[str, int]:
    """The text of a file and how many undecodable places were replaced in it."""
    if archive.is_zip(data):
        text = archive.json_of(data, name)
        return text, text.count("\ufffd")
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise InputError(f"{name} is {what}, not JSON: open a recorded conversation instead.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    else:
        if b"\0" in data[:512] and not data.lstrip(codecs.BOM_UTF8 + b"\0 \t\r\n").startswith(
            (b"{", b"[")
        ):
            raise InputError(f"{name} is a binary file, not JSON: open a recorded conversation.")
        data = data.removeprefix(codecs.BOM_UTF8)
        try:
            return data.decode("utf-8"), 0
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def parse(decoded: tuple[str, int] | str, path: str = "") -> Document:
    """Find the JSON values in a text: one, or one a line, glued ones included.

    Raises:
        InputError: not one value was found.
    """
    text, replaced = decoded if isinstance(decoded, tuple) else (decoded, 0)
    if _TEXT_LOG.match(text):
        return Document(path, text, (), notes=_replacements(replaced))
    reader = _Reader(text)
    try:
        reader.read()
    except MemoryError:
        raise InputError(f"{Path(path).name} does not fit into memory: split it.") from None
    if not reader.records:
        raise InputError(f"{Path(path).name or 'The text'} {reader.refusal()}")
    notes = (*reader.notes(), *_replacements(replaced))
    return Document(path, text, tuple(reader.records), tuple(reader.skipped), notes)


def _replacements(count: int) -> tuple[str, ...]:
    return (f"The file is not valid UTF-8: {count:,} places became \ufffd.",) if count else ()


_LOOKED_AT = 200
"""Records of a log that are searched for keys that are named twice; one program wrote them all."""


class _Reader(Walker):
    """One pass over a text, record by record."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.records: list[Node] = []
        self.skipped: list[Skipped] = []
        self.glued = 0
        self._gap = _BETWEEN_EVENTS if _EVENTS.match(text) else _SPACE_OR_NUL

    def read(self) -> None:
        """Fill ``records`` and ``skipped``."""
        text, end = self.text, len(self.text)
        line, counted, ended = 1, 0, -1
        pos = skip(self._gap, text, 0)
        while pos < end:
            line += text.count("\n", counted, pos)
            counted = pos
            node = self._record(pos)
            if node is None or not isinstance(node.value, dict | list):
                pos = self._skip_line(pos, line)
            else:
                node.line = line
                self.glued += ended >= 0 and text.find("\n", ended, pos) < 0
                self.records.append(node)
                pos = ended = end if node.cut else node.end
            pos = skip(self._gap, text, pos)

    def _record(self, pos: int) -> Node | None:
        """The value at ``pos``. Only the first is walked: the rest may never be looked at."""
        if self.records:
            if len(self.records) == _LOOKED_AT:
                self.trust()
            try:
                return Node(*self.value(pos))
            except Unreadable as bad:
                self.fault = self.fault or (bad.pos, bad.reason)
                return None
        reader_fault = self.fault
        self.fault = None
        node = self.walk(pos, OPENED)
        fault, self.fault = self.fault, reader_fault or self.fault
        if fault is None:
            return node
        if not self._holds_messages(node) or self._is_first_line_of_many(pos, fault[0]):
            return None
        node.cut = True
        where = self.text.count("\n", 0, min(fault[0], len(self.text))) + 1
        self.skipped.append(Skipped(where, f"{fault[1]}: everything from here on is lost"))
        return node

    def _holds_messages(self, node: Node) -> bool:
        if isinstance(node.value, list):
            return bool(node.value)
        return isinstance(node.value, dict) and any(
            isinstance(node.value.get(key), list) and node.value[key]
            for key in ("messages", "loglines", "input", "contents", "history", "context", "data")
        )

    def _is_first_line_of_many(self, start: int, fault: int) -> bool:
        """The fault lies on the first line and other lines follow that are objects as well."""
        line_end = self.text.find("\n", start)
        if line_end < 0:
            return False
        after = skip(_SPACE_OR_NUL, self.text, line_end)
        return fault <= after and self.text.startswith("{", after)

    def _skip_line(self, pos: int, line: int) -> int:
        end = self.text.find("\n", pos)
        end = len(self.text) if end < 0 else end
        reason = self.fault[1] if self.fault else "no object"
        self.skipped.append(Skipped(line, f"not readable as JSON: {reason}"))
        if self.records:
            self.fault = None
        return end

    def refusal(self) -> str:
        """Why there is nothing to read, as the end of a sentence."""
        if self.fault is None:
            return "holds no JSON object or list: open a recorded conversation instead."
        pos, reason = self.fault
        line = self.text.count("\n", 0, pos) + 1
        column = pos - self.text.rfind("\n", 0, pos)
        if reason == TOO_DEEP:
            return f"is {reason} (line {line}): no conversation looks like that."
        return f"is not JSON: {reason} (line {line}, column {column})."

    def notes(self) -> list[str]:
        """What was odd but readable, one sentence each."""
        found = []
        if self.constants:
            found.append("NaN or Infinity stands in the file, which JSON does not know.")
        if self.doubles:
            found.append(f"Objects that name a key twice: {self.doubles:,}. The last one counts.")
        if self.glued:
            found.append(f"Records on the same line as the one before them: {self.glued:,}.")
        if "\0" in self.text:
            found.append(
                f"{self.text.count(chr(0))} NUL bytes between the records were passed over."
            )
        return found
