"""A small document that looks like a large one, for finding out its format.

Thirty formats look at every message of a document in turn, and a hundred thousand messages have a
handful of shapes: it is enough to look at the first and last ones and at one of each shape.
The places of elements in a sample are not to be relied on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, TypeVar

from stm_inspector.formats.document import Document
from stm_inspector.formats.values import Node

_LONG = 256
"""Elements from which a list is cut down."""

_SMALL = 1 << 14
"""Characters of a value below which there is nothing to be gained."""

_ENDS = 32
"""Elements that are kept at either end, whatever their shape."""

_NEAR = 128
"""Elements at either end that are told apart by more than their outline."""

_PIECE = 4096
"""Elements whose outlines are taken in one go."""

_SHAPES = 256
"""Shapes of which an element is kept; where every element has its own, the first ones do."""

_DEPTH = 5
"""How deep lists are looked for: requests in a log, their messages, and the parts of those."""

_T = TypeVar("_T")


def sample(document: Document) -> Document:
    """``document`` with long lists cut down; itself where it holds none."""
    records = tuple([_node(record, _DEPTH) for record in _chosen(document.records, _value_of)])
    if len(records) == len(document.records) and all(map(_is, records, document.records)):
        return document
    return replace(document, records=records)


def _node(node: Node, depth: int) -> Node:
    """``node`` with long lists in it cut down; itself where nothing was."""
    if not depth or node.end - node.start < _SMALL:
        return node
    if node.fields is not None:
        fields = [(key, start, _node(child, depth - 1)) for key, start, child in node.fields]
        if all(
            fewer is child for (_, _, fewer), (_, _, child) in zip(fields, node.fields, strict=True)
        ):
            return node
        value = {key: child.value for key, _, child in fields}
        return replace(node, value=value, fields=fields)
    if node.items is not None:
        items = [_node(item, depth - 1) for item in _chosen(node.items, _value_of)]
        return replace(node, value=[item.value for item in items], items=items)
    value = _value(node.value, depth)
    if value is node.value:
        return node
    if isinstance(value, dict):
        return replace(node, value=value)
    # Whoever only looks at values shall not have to wait for the places of all elements.
    return replace(node, value=value, items=[Node(one, node.start, node.end) for one in value])


def _value(value: Any, depth: int) -> Any:
    """``value`` with long lists in it cut down; itself where nothing was."""
    if not depth:
        return value
    if isinstance(value, list):
        chosen = _chosen(value, _itself)
        fewer = [_value(item, depth - 1) for item in chosen]
        same = len(fewer) == len(value) and all(map(_is, fewer, value))
        return value if same else fewer
    if isinstance(value, dict):
        changed = {
            key: fewer
            for key, inner in value.items()
            if isinstance(inner, list | dict) and (fewer := _value(inner, depth - 1)) is not inner
        }
        return {**value, **changed} if changed else value
    return value


def _is(one: object, other: object) -> bool:
    return one is other


def _chosen(values: Sequence[_T], plain: Callable[[_T], Any]) -> Sequence[_T]:
    """The elements of a list that are worth a look, in their order. ``plain``: their value."""
    length = len(values)
    if length < _LONG:
        return values
    seen: dict[object, int] = {}
    near = (*range(min(_NEAR, length)), *range(max(length - _NEAR, _NEAR), length))
    for at in near:
        seen.setdefault(_shape(plain(values[at])), at)
    ends = (*range(_ENDS), *range(length - _ENDS, length))
    firsts = (*list(seen.values())[:_SHAPES], *_outlines(list(map(plain, values))))
    return [values[at] for at in sorted({*ends, *firsts})]


def _outlines(values: list[Any]) -> list[int]:
    """The first element of each outline: its keys and the type of its content.

    A piece at a time in C: there may be a hundred thousand, and the window wants its turn.
    """
    firsts: dict[object, int] = {}
    for begin in range(0, len(values), _PIECE):
        piece = values[begin : begin + _PIECE]
        if set(map(type, piece)) == {dict}:
            piece.reverse()  # so that of each outline the first element remains
            contents = map(type, map(dict.get, piece, repeat("content")))
            places = range(begin + len(piece) - 1, begin - 1, -1)
            outlines = zip(map(tuple, piece), contents, strict=True)
            firsts = dict(zip(outlines, places, strict=True)) | firsts
    return sorted(firsts.values())[:_SHAPES]


def _value_of(node: Node) -> Any:
    return node.value


def _itself(value: Any) -> Any:
    return value


def _shape(value: Any) -> object:
    """What tells an element from others, as far as a format could care: equal for equal ones."""
    if not isinstance(value, dict):
        return type(value)
    keys, kinds = tuple(value), tuple(map(type, value.values()))
    said = [word for key in _SAID if isinstance(word := value.get(key), str)]
    content = value.get("content")
    if isinstance(content, list):
        said += [_shape_of_part(part) for part in content[:_ENDS]]
    return keys, kinds, *said


_SAID = ("role", "type", "key")
"""Members whose words formats tell their messages by."""


def _shape_of_part(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else type(part).__name__
