"""JSON values that know where in their text they stand.

Readers need both: the values to understand, and the places to write a kept message exactly as it
was read. Outer structures (an envelope, its list of messages) are walked here; whatever stands
inside an element is decoded by the C scanner of ``json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OPENED = frozenset(
    (
        *("messages", "input", "contents", "history", "context", "data", "output", "loglines"),
        *("tools", "functions", "system", "request", "response", "body"),
    )
)
"""Members whose own members or elements are placed at once, in the same pass."""

TOO_DEEP = "nested too deeply to be read"

_DEPTH = 4
"""How deep opened members may stand in one another."""

_SHORT = 512
"""Characters of an element up to which it is cheaper to decode a list twice, first as a whole and
once more if anybody asks for the places of its elements, than element by element."""

_LOOKED_AT = 16
"""Elements of a list that are looked at to find out whether they are short."""

_MAX_DIGITS = 4300
"""Python refuses to convert longer whole numbers (``sys.get_int_max_str_digits``)."""

_Decode = Callable[[str, int], tuple[Any, int]]

_SPACE = re.compile(r"[ \t\n\r]*")
_NEXT_OR_END = re.compile(r"[ \t\n\r]*(?:,[ \t\n\r]*|(\]))")
"""Between two elements of a list, or behind the last."""


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


def members(text: str, node: Node) -> list[tuple[str, int, Node]]:
    """The members of an object with their places; found on the first call."""
    if node.fields is None:
        node.fields = Walker(text).walk(node.start, frozenset()).fields or []
    return node.fields


def elements(text: str, node: Node) -> list[Node]:
    """The elements of a list with their places; found on the first call."""
    if node.items is None:
        node.items = Walker(text).placed(node.start).items or []
    return node.items


def opened(text: str, node: Node) -> Node:
    """``node`` with the members that conversations stand in opened as well."""
    if node.fields is None and node.items is None and isinstance(node.value, dict | list):
        fresh = Walker(text).walk(node.start, OPENED)
        node.fields, node.items = fresh.fields, fresh.items
    return node


def member(text: str, node: Node | None, key: str) -> Node | None:
    """Member ``key`` of an object (the last one where it stands twice), or None."""
    if node is None or not isinstance(node.value, dict) or key not in node.value:
        return None
    members(text, node)
    return node.field(key)


class Unreadable(Exception):
    """The text goes wrong at ``pos``."""

    def __init__(self, pos: int, reason: str) -> None:
        super().__init__(reason)
        self.pos = pos
        self.reason = reason


class Walker:
    """Decodes the values of one text and remembers what was odd.

    Attributes:
        fault: where and why the last walk went wrong, or None.
        constants: how often NaN or Infinity stood in the text.
        doubles: how many objects named a key twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.fault: tuple[int, str] | None = None
        self.constants = 0
        self.doubles = 0
        self._decode = self._decoder(None)

    def trust(self) -> None:
        """Look for keys that are named twice no longer: it takes as long as the decoding."""
        self._decode = self._decoder(None, looks=False)

    def _decoder(
        self, parse_int: Callable[[str], int | str] | None, *, looks: bool = True
    ) -> _Decode:
        return json.JSONDecoder(
            object_pairs_hook=self._object if looks else None,
            parse_constant=self._constant,
            parse_int=parse_int,
        ).raw_decode

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
            return Node(*self.value(pos))
        except Unreadable as bad:
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
                    raise Unreadable(pos, "a key in double quotes is missing")
                key_start = pos
                key, _, pos = self.value(pos)
                pos = self._expect(pos, ":")
                if key in open_keys and text[pos : pos + 1] in ("{", "["):
                    child = self.walk(pos, open_keys, depth + 1)
                else:
                    child = Node(*self.value(pos))
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
        except Unreadable as bad:
            self.fault = (bad.pos, bad.reason)
            node.cut = True
            return node

    def placed(self, start: int) -> Node:
        """The list at ``start`` with its elements placed."""
        return self._walk_list(start, at_once=False)

    def _walk_list(self, start: int, at_once: bool = True) -> Node:
        """The list at ``start``. ``at_once``: short elements need not be placed."""
        text, separator = self.text, _NEXT_OR_END.match
        before = self.constants, self.doubles
        values: list[Any] = []
        items: list[Node] = []
        node = Node(values, start, start, items=items)
        try:
            pos = self._after(start + 1)
            if text[pos : pos + 1] == "]":
                node.end = pos + 1
                return node
            while True:
                value, _, end = self.value(pos)
                values.append(value)
                items.append(Node(value, pos, end))
                if at_once and len(items) == _LOOKED_AT and end - start < _SHORT * _LOOKED_AT:
                    whole = self._whole(start, before)
                    if whole is not None:
                        return whole
                found = separator(text, end)
                if found is None:
                    node.end = end
                    self._expect(end, ",")
                elif found.lastindex:
                    node.end = found.end()
                    return node
                else:
                    pos = found.end()
        except Unreadable as bad:
            self.fault = (bad.pos, bad.reason)
            node.end = max(node.end, items[-1].end if items else start)
            node.cut = True
            return node

    def _whole(self, start: int, before: tuple[int, int]) -> Node | None:
        """The list at ``start`` decoded by one call; None where it goes wrong somewhere.

        ``before``: how much was odd before it.
        """
        odd = self.constants, self.doubles
        self.constants, self.doubles = before
        try:
            return Node(*self.value(start))
        except Unreadable:
            self.constants, self.doubles = odd
            return None

    def value(self, pos: int) -> tuple[Any, int, int]:
        """(value, start, end) of the value at ``pos``, decoded in C."""
        try:
            value, end = self._decode(self.text, pos)
        except json.JSONDecodeError as error:
            reason = error.msg.removesuffix(" at").removesuffix(" starting")
            raise Unreadable(error.pos, reason[:1].lower() + reason[1:]) from None
        except RecursionError:
            raise Unreadable(pos, TOO_DEEP) from None
        except ValueError:
            # A number with too many digits. From here on each is looked at before it is
            # converted, which costs a call of Python for every number.
            self._decode = self._decoder(_whole_number)
            return self.value(pos)
        return value, pos, end

    def _after(self, pos: int) -> int:
        return skip(_SPACE, self.text, pos)

    def _expect(self, pos: int, what: str) -> int:
        pos = self._after(pos)
        if self.text[pos : pos + 1] != what:
            ends = pos >= len(self.text)
            raise Unreadable(pos, "the text ends too early" if ends else f"{what!r} is missing")
        return self._after(pos + 1)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.doubles += 1
        return value

    def _constant(self, word: str) -> float:
        self.constants += 1
        return float(word)


def skip(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """The place behind what ``pattern`` matches at ``pos``."""
    found = pattern.match(text, pos)
    return found.end() if found else pos


def _whole_number(digits: str) -> int | str:
    """The number, or its digits where Python would refuse to convert them."""
    return int(digits) if len(digits) < _MAX_DIGITS else digits
