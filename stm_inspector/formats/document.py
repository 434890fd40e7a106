"""A file as text and as JSON values that know where in the text they stand.

Readers need both: the values to understand, and the places to write a kept message exactly as it
was read. Outer structures (an envelope, its list of messages, the lines of a log) are walked
here; whatever stands inside an element is decoded by the C scanner of ``json``.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Skipped

MAX_BYTES = 1 << 30
"""Larger files are refused: text and values together need about six times their size."""

_OPENED = frozenset(
    ("messages", "tools", "functions", "system", "loglines", "request", "response", "body")
)
"""Members whose own members or elements are placed at once, in the same pass."""

_MAX_DIGITS = 4300
"""Python refuses to convert longer whole numbers (``sys.get_int_max_str_digits``)."""

_MAGIC = (
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)

_DEPTH = 4
"""How deep opened members may stand in one another."""

_SPACE = re.compile(r"[ \t\n\r]*")
_SPACE_OR_NUL = re.compile(r"[ \t\n\r\0]*")
"""A file system that lost power leaves blocks of NUL in a log."""


def _skip(pattern: re.Pattern[str], text: str, pos: int) -> int:
    found = pattern.match(text, pos)
    return found.end() if found else pos


@dataclass(slots=True)
class Node:
    """A JSON value and its place: ``text[start:end]`` is the value as it was written.

    Attributes:
        line: 1-based line on which it starts; 0 where nobody asked.
        fields: ``(key, where the key starts, value)`` of an object in order, duplicates
            included; None until ``members`` is asked for them.
        items: the elements of a list; None until ``elements`` is asked for them.
        cut: the text ends, or goes wrong, inside it; the value holds what came before.
    """

    value: Any
    start: int
    end: int
    line: int = 0
    fields: list[tuple[str, int, Node]] | None = None
    items: list[Node] | None = None
    cut: bool = False

    def field(self, key: str) -> Node | None:
        """The opened member ``key`` (the last one where it stands twice), or None."""
        found = None
        for name, _, child in self.fields or ():
            if name == key:
                found = child
        return found


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: one JSON value, or one a line.

    Attributes:
        records: the values at the outermost level, in order.
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
    """Read the file at ``path``.

    Raises:
        InputError: there is no such file, it may not be read, or it holds no JSON at all.
    """
    return parse(_decode(_read_bytes(Path(path)), Path(path).name), os.fspath(path))


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{path} is a folder: open one of the files in it.")
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
    if not data.strip():
        raise InputError(f"{path.name} is empty: there is no conversation in it.")
    return data


def _decode(data: bytes, name: str) -> tuple[str, int]:
    """The text of a file and how many undecodable places were replaced in it."""
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
            # Lone surrogates that were written as if they were characters stay what they are.
            return data.decode("utf-8"), 0
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
    return text, text.count("\ufffd")


def parse(decoded: tuple[str, int] | str, path: str = "") -> Document:
    """Find the JSON values in a text: one, or one a line, glued ones included.

    Raises:
        InputError: not one value was found.
    """
    text, replaced = decoded if isinstance(decoded, tuple) else (decoded, 0)
    reader = _Reader(text)
    try:
        reader.read()
    except MemoryError:
        raise InputError(f"{Path(path).name} does not fit into memory: split it.") from None
    if not reader.records:
        raise InputError(f"{Path(path).name or 'The text'} {reader.refusal()}")
    notes = list(reader.notes())
    if replaced:
        notes.append(f"The file is not valid UTF-8: {replaced:,} places became \ufffd.")
    return Document(path, text, tuple(reader.records), tuple(reader.skipped), tuple(notes))


def members(text: str, node: Node) -> list[tuple[str, int, Node]]:
    """The members of an object with their places; found on the first call."""
    if node.fields is None:
        node.fields = _Reader(text).walk(node.start, frozenset()).fields or []
    return node.fields


def elements(text: str, node: Node) -> list[Node]:
    """The elements of a list with their places; found on the first call."""
    if node.items is None:
        node.items = _Reader(text).walk(node.start, frozenset()).items or []
    return node.items


def opened(text: str, node: Node) -> Node:
    """``node`` with the members that conversations stand in opened as well."""
    if node.fields is None and node.items is None and isinstance(node.value, dict | list):
        fresh = _Reader(text).walk(node.start, _OPENED)
        node.fields, node.items = fresh.fields, fresh.items
    return node


def member(text: str, node: Node | None, key: str) -> Node | None:
    """Member ``key`` of an object (the last one where it stands twice), or None."""
    if node is None or not isinstance(node.value, dict) or key not in node.value:
        return None
    members(text, node)
    return node.field(key)


class _Reader:
    """One pass over a text. Remembers what was odd."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.records: list[Node] = []
        self.skipped: list[Skipped] = []
        self.fault: tuple[int, str] | None = None
        self.constants = 0
        self.doubles = 0
        self.glued = 0
        self._decode = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_int=_whole_number,
        ).raw_decode

    def read(self) -> None:
        """Fill ``records`` and ``skipped``."""
        text, end = self.text, len(self.text)
        line, counted, last_line = 1, 0, 0
        pos = _skip(_SPACE_OR_NUL, text, 0)
        while pos < end:
            line += text.count("\n", counted, pos)
            counted = pos
            node = self._record(pos)
            if node is None or not isinstance(node.value, dict | list):
                pos = self._skip_line(pos, line)
            else:
                node.line = line
                self.glued += line == last_line
                last_line = line + text.count("\n", pos, node.end)
                self.records.append(node)
                pos = end if node.cut else node.end
            pos = _skip(_SPACE_OR_NUL, text, pos)

    def _record(self, pos: int) -> Node | None:
        """The value at ``pos``. Only the first is walked: the rest may never be looked at."""
        if self.records:
            try:
                return Node(*self._value(pos))
            except _Unreadable as bad:
                self.fault = self.fault or (bad.pos, bad.reason)
                return None
        reader_fault = self.fault
        self.fault = None
        node = self.walk(pos, _OPENED)
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
        return any(
            isinstance(node.value.get(key), list) and node.value[key]
            for key in ("messages", "loglines")
        )

    def _is_first_line_of_many(self, start: int, fault: int) -> bool:
        """The fault lies on the first line and other lines follow that are objects as well."""
        line_end = self.text.find("\n", start)
        if line_end < 0:
            return False
        after = _skip(_SPACE_OR_NUL, self.text, line_end)
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
        if reason == _TOO_DEEP:
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

    def walk(self, pos: int, open_keys: frozenset[str], depth: int = 0) -> Node:
        """The value at ``pos`` with its members or elements placed.

        Sets ``fault`` and returns what was read before it where the text goes wrong.
        """
        opening = self.text[pos : pos + 1]
        if opening == "{":
            return self._walk_object(pos, open_keys if depth < _DEPTH else frozenset(), depth)
        if opening == "[":
            return self._walk_list(pos)
        try:
            return Node(*self._value(pos))
        except _Unreadable as bad:
            self.fault = (bad.pos, bad.reason)
            return Node(None, pos, pos, cut=True)

    def _walk_object(self, start: int, open_keys: frozenset[str], depth: int) -> Node:
        text = self.text
        fields: list[tuple[str, int, Node]] = []
        node = Node({}, start, start, fields=fields)
        try:
            pos = self._after(start + 1)
            if text[pos : pos + 1] == "}":
                node.end = pos + 1
                return node
            while True:
                if text[pos : pos + 1] != '"':
                    raise _Unreadable(pos, "a key in double quotes is missing")
                key_start = pos
                key, _, pos = self._value(pos)
                pos = self._expect(pos, ":")
                if key in open_keys and text[pos : pos + 1] in ("{", "["):
                    child = self.walk(pos, open_keys, depth + 1)
                else:
                    child = Node(*self._value(pos))
                self.doubles += key in node.value
                node.value[key] = child.value
                fields.append((key, key_start, child))
                node.end = pos = child.end
                if self.fault:
                    node.cut = True
                    return node
                pos = self._after(pos)
                if text[pos : pos + 1] == "}":
                    node.end = pos + 1
                    return node
                pos = self._expect(pos, ",")
        except _Unreadable as bad:
            self.fault = (bad.pos, bad.reason)
            node.cut = True
            return node

    def _walk_list(self, start: int) -> Node:
        text = self.text
        items: list[Node] = []
        node = Node([], start, start, items=items)
        try:
            pos = self._after(start + 1)
            if text[pos : pos + 1] == "]":
                node.end = pos + 1
                return node
            while True:
                child = Node(*self._value(pos))
                items.append(child)
                node.value.append(child.value)
                node.end = pos = child.end
                pos = self._after(pos)
                if text[pos : pos + 1] == "]":
                    node.end = pos + 1
                    return node
                pos = self._expect(pos, ",")
        except _Unreadable as bad:
            self.fault = (bad.pos, bad.reason)
            node.cut = True
            return node

    def _value(self, pos: int) -> tuple[Any, int, int]:
        """(value, start, end) of the value at ``pos``, decoded in C."""
        try:
            value, end = self._decode(self.text, pos)
        except json.JSONDecodeError as error:
            raise _Unreadable(error.pos, error.msg[:1].lower() + error.msg[1:]) from None
        except RecursionError:
            raise _Unreadable(pos, _TOO_DEEP) from None
        return value, pos, end

    def _after(self, pos: int) -> int:
        return _skip(_SPACE, self.text, pos)

    def _expect(self, pos: int, what: str) -> int:
        pos = self._after(pos)
        if self.text[pos : pos + 1] != what:
            ends = pos >= len(self.text)
            raise _Unreadable(pos, "the text ends too early" if ends else f"{what!r} is missing")
        return self._after(pos + 1)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.doubles += 1
        return value

    def _constant(self, word: str) -> float:
        self.constants += 1
        return float(word)


_TOO_DEEP = "nested too deeply to be read"


class _Unreadable(Exception):
    """The text goes wrong at ``pos``."""

    def __init__(self, pos: int, reason: str) -> None:
        super().__init__(reason)
        self.pos = pos
        self.reason = reason


def _whole_number(digits: str) -> int | str:
    """The number, or its digits where Python would refuse to convert them."""
    return int(digits) if len(digits) < _MAX_DIGITS else digits
