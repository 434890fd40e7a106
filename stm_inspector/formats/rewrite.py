"""Write a JSON value again with some of its members changed and all the rest as it was read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stm_inspector.formats.values import Node, elements, members

_SURROGATE = re.compile("[\ud800-\udfff]")

Path = tuple[str | int, ...]
"""Keys and list places that lead from a value to one inside it."""

Changes = Mapping[Path, str | None]
"""Place -> the JSON text that stands there instead; None takes the member or element out."""


def dumps(value: Any) -> str:
    """JSON text of a value, with lone surrogates escaped so that it can be encoded."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


def verbatim(text: str, node: Node) -> str:
    """The value exactly as it was read."""
    return text[node.start : node.end]


def rewrite(text: str, node: Node, changes: Changes) -> str:
    """The text of ``node`` with ``changes`` made; what they do not name stays verbatim.

    A member that is not there is added at the end. Of a member that stands twice, only the one
    that counts (the last) is left once it is changed.
    """
    if () in changes:
        return changes[()] or "null"
    if not changes and not _is_cut(node):
        return text[node.start : node.end]
    inner: dict[str | int, dict[Path, str | None]] = {}
    for path, new in changes.items():
        inner.setdefault(path[0], {})[path[1:]] = new
    if isinstance(node.value, dict):
        return _rewrite_object(text, node, inner)
    if isinstance(node.value, list):
        pieces: list[tuple[int | None, str]] = []
        for index, child in enumerate(elements(text, node)):
            below = inner.get(index, {})
            if not _is_taken_out(below):
                pieces.append((index, rewrite(text, child, below)))
        return join(text, node, pieces)
    return text[node.start : node.end]


def join(text: str, node: Node, pieces: Sequence[tuple[int | None, str]]) -> str:
    """A list that holds ``pieces``: (place in the old list or None, JSON text), in order.

    The white space of the old list is kept.
    """
    starts = [(child.start, child.end) for child in elements(text, node)]
    return _join(text, node, starts, pieces, "[]")


def _rewrite_object(
    text: str, node: Node, inner: Mapping[str | int, Mapping[Path, str | None]]
) -> str:
    fields = members(text, node)
    last = {key: number for number, (key, _, _) in enumerate(fields)}
    pieces: list[tuple[int | None, str]] = []
    for number, (key, key_start, child) in enumerate(fields):
        below = inner.get(key, {})
        if below and (last[key] != number or _is_taken_out(below)):
            continue
        pieces.append((number, text[key_start : child.start] + rewrite(text, child, below)))
    for added, below in inner.items():
        new = below.get(())
        if str(added) not in last and new is not None:
            pieces.append((None, f"{dumps(str(added))}: {new}"))
    places = [(key_start, child.end) for _, key_start, child in fields]
    return _join(text, node, places, pieces, "{}")


def _join(
    text: str,
    node: Node,
    places: Sequence[tuple[int, int]],
    pieces: Iterable[tuple[int | None, str]],
    brackets: str,
) -> str:
    head, tail = brackets[0], brackets[1]
    usual = ", "
    if places:
        head = text[node.start : places[0][0]]
        usual = text[places[0][1] : places[1][0]] if len(places) > 1 else f",{head[1:] or ' '}"
        tail = brackets[1] if node.cut else text[places[-1][1] : node.end]
    out: list[str] = []
    for old, new in pieces:
        if not out:
            out.append(head)
        else:
            gap = text[places[old - 1][1] : places[old][0]] if old else usual
            out.append(gap)
        out.append(new)
    return "".join(out) + tail if out else brackets


def _is_taken_out(changes: Mapping[Path, str | None]) -> bool:
    return () in changes and changes[()] is None


def _is_cut(node: Node) -> bool:
    return node.cut or any(child.cut for _, _, child in node.fields or ())
