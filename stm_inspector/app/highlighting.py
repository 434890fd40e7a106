"""From text to coloured spans, off the GUI thread. No Qt here; pygments is imported late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from stm_inspector.app.rendering import Stretch

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Line = list[tuple[int, int, str]]
"""Spans of one line: start and length in UTF-16 units (as Qt counts), and the look."""


@dataclass(frozen=True, slots=True)
class Composed:
    """Stretches joined to one text.

    Attributes:
        text: what is shown.
        looks: (first line, number of lines, look) of each stretch.
        cut: characters left out at the end, 0 where everything is shown.
    """

    text: str
    stretches: tuple[Stretch, ...]
    looks: tuple[tuple[int, int, str], ...]
    cut: int


def compose(stretches: Sequence[Stretch], limit: int | None) -> Composed:
    """Join ``stretches``; after ``limit`` characters the rest is cut."""
    kept: list[Stretch] = []
    looks: list[tuple[int, int, str]] = []
    room = limit if limit is not None else sum(len(item.text) for item in stretches)
    cut = line = 0
    for item in stretches:
        text = item.text[: max(0, room)]
        cut += len(item.text) - len(text)
        room -= len(text)
        if text or not item.text:
            kept.append(Stretch(text, item.look, item.lexer))
            lines = text.count("\n") + 1
            looks.append((line, lines, item.look))
            line += lines
    return Composed("\n".join(item.text for item in kept), tuple(kept), tuple(looks), cut)


def spans(
    composed: Composed, cancelled: Callable[[], bool], limit: int | None = None
) -> dict[int, Line]:
    """Coloured spans by line number; lexes no further than ``limit`` characters."""
    result: dict[int, Line] = {}
    seen = 0
    for item, (first, _count, look) in zip(composed.stretches, composed.looks, strict=True):
        if cancelled() or (limit is not None and seen > limit):
            break
        if look == "code" and item.lexer:
            text = item.text if limit is None else item.text[: limit - seen + 1]
            lexer = find_lexer(item.lexer)
            if lexer is not None:
                _add(result, first, lexer.get_tokens(text), cancelled)
        seen += len(item.text)
    return result


@cache
def find_lexer(name: str) -> Lexer | None:
    """The lexer of that name, or for a file of that name; None where pygments knows none."""
    from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
    from pygments.util import ClassNotFound

    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    try:
        return get_lexer_by_name(name, **options)
    except ClassNotFound:
        found = find_lexer_class_for_filename(name) if "." in name else None
        return found(**options) if found is not None else None


def _add(
    result: dict[int, Line],
    line: int,
    tokens: Iterable[tuple[Any, str]],
    cancelled: Callable[[], bool],
) -> None:
    column = 0
    for count, (kind, text) in enumerate(tokens):
        if not count % 2048 and cancelled():
            return
        look = look_of(kind)
        pieces = text.split("\n")
        for place, piece in enumerate(pieces):
            if place:
                line, column = line + 1, 0
            units = len(piece) if piece.isascii() else len(piece.encode("utf-16-le")) // 2
            if look and units:
                result.setdefault(line, []).append((column, units, look))
            column += units


@cache
def look_of(kind: Any) -> str:
    """Our few looks for pygments' many token types; "" for plain text."""
    from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

    table = (
        (Name.Tag, "key"),
        (Comment, "comment"),
        (Keyword.Constant, "number"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (String, "string"),
        (Number, "number"),
        (Name.Function, "name"),
        (Name.Class, "name"),
        (Name.Decorator, "name"),
        (Name.Builtin, "name"),
        (Generic.Inserted, "string"),
        (Generic.Deleted, "removed"),
        (Generic.Heading, "keyword"),
        (Generic.Subheading, "keyword"),
    )
    return next((look for parent, look in table if kind in parent), "")
