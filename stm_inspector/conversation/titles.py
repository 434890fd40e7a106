"""What a block says of its message: the tools as chips, and one line of text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stm_inspector.conversation.model import Media, Message, Part, PartKind
from stm_inspector.conversation.visible import visible

LONGEST = 300
"""Characters of a title; no list is wider."""

_HINT_KEYS = (
    "command",
    "cmd",
    "pattern",
    "query",
    "file_path",
    "path",
    "filename",
    "notebook_path",
    "url",
    "description",
    "prompt",
    "name",
)
_PATH_KEYS = frozenset({"file_path", "path", "filename", "notebook_path"})
_PATH_END = 2
"""Components of a path that a title shows: blocks under one another share the rest."""
_SPACE = re.compile(r"\s+")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_ONLY_TAG = re.compile(f"({_TAG.pattern})+")
_LONG_JSON = 20_000


class Title(NamedTuple):
    """Names of tools to be drawn as chips, and the text beside them."""

    chips: tuple[str, ...]
    text: str


def title_of(message: Message, calls: Sequence[Part | None] = ()) -> Title:
    """The title of ``message``; never empty, without line breaks, safe to draw.

    ``calls`` holds, for each tool result in the message, the call that it answers, or None;
    results then show the tool and the argument they belong to.
    """
    definitions = [part for part in message.parts if part.kind is PartKind.TOOL_DEFINITION]
    if definitions:
        names = ", ".join(part.name for part in definitions if part.name)
        count = f"{len(definitions)} tool{'s' if len(definitions) != 1 else ''}"
        return Title((), _clean(f"Tool definitions · {count} · {names}"))
    results = [part for part in message.parts if part.kind is PartKind.TOOL_RESULT]
    if results and not any(_says(part) for part in message.parts):
        return _title_of_results(results, calls)
    text = next((part.text for part in message.parts if _says(part)), "")
    called = [part for part in message.parts if part.kind is PartKind.TOOL_CALL]
    if text:
        return Title((), _first_line(text))
    if called:
        return _title_of_calls(called)
    return Title((), _other(message.parts))


def hint_of(call: Part) -> str:
    """The argument of ``call`` that says most about it: a path, a command, a query."""
    if len(call.text) > _LONG_JSON:
        return _first_line(call.text)
    try:
        arguments = json.loads(call.text)
    except (ValueError, RecursionError):
        return _first_line(call.text)
    if not isinstance(arguments, dict):
        return _first_line(call.text)
    texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value}
    best = next((key for key in (*_HINT_KEYS, *texts) if key in texts), None)
    if best is None:
        return _first_line(call.text) if arguments else ""
    hint = _first_line(texts[best])
    return _end_of_path(hint) if best in _PATH_KEYS else hint


def _end_of_path(path: str) -> str:
    separator = "\\" if "\\" in path else "/"
    components = path.split(separator)
    if len(components) <= _PATH_END + 1:
        return path
    return separator.join(("…", *components[-_PATH_END:]))


def _says(part: Part) -> bool:
    return part.kind is PartKind.TEXT and not part.text.isspace() and bool(part.text)


def _title_of_calls(calls: Sequence[Part]) -> Title:
    chips = _chips(part.name for part in calls)
    hints = [hint for hint in map(hint_of, calls) if hint]
    return Title(chips, _clean(" · ".join(hints)) if hints else "called without arguments")


def _title_of_results(results: Sequence[Part], calls: Sequence[Part | None]) -> Title:
    asked = [*calls, *[None] * len(results)][: len(results)]
    names = [
        part.name or (call.name if call else None)
        for part, call in zip(results, asked, strict=True)
    ]
    first, call = results[0], asked[0]
    hint = hint_of(call) if call else ""
    text = _outcome(first, hint)
    if len(results) > 1:
        text += f" · {len(results)} results"
    return Title(_chips(names), _clean(text))


def _outcome(result: Part, hint: str) -> str:
    """The hint of the call and what came of it: its one line, or how many lines."""
    body = result.text or next((part.text for part in result.parts if part.text), "")
    stripped = body.strip()
    lines = stripped.count("\n") + 1
    if result.hidden:
        return f"{hint} · {result.hidden}" if hint else result.hidden
    if not stripped:
        inside = _other(result.parts) if result.parts else "empty"
        return f"{hint} · {inside}" if hint else f"({inside})"
    if result.is_error:
        return f"{hint} → error: {_first_line(stripped)}" if hint else _first_line(stripped)
    if lines == 1:
        return f"{hint} → {_first_line(stripped)}" if hint else _first_line(stripped)
    return f"{hint or _first_line(stripped)} · {lines:,} lines"


def _chips(names: Iterable[str | None]) -> tuple[str, ...]:
    """Each name once, in order; a name that is missing is "tool"."""
    found = dict.fromkeys(_clean(name or "tool")[:40] for name in names)
    return tuple(found)


_KINDS = {
    PartKind.THINKING: "thinking",
    PartKind.COMPACTION: "compaction",
    PartKind.OPAQUE: "unknown content",
}


def _other(parts: Sequence[Part]) -> str:
    """A title for a message without text, calls or results."""
    if not parts:
        return "(empty)"
    part = parts[0]
    more = f" · {len(parts)} parts" if len(parts) > 1 else ""
    if part.kind is PartKind.IMAGE:
        return f"image{_size(part.media)}{more}"
    if part.kind is PartKind.DOCUMENT:
        return _clean(f"document {part.name or _first_line(part.text)}".rstrip() + more)
    word = _KINDS.get(part.kind)
    if word is None:
        return "(empty)"
    if part.kind is PartKind.OPAQUE and part.source_type:
        word = part.source_type
    if part.hidden:
        return _clean(f"{word} · {part.hidden}")
    return _clean(f"{word} · {_first_line(part.text)}" if part.text.strip() else word)


def _size(media: Media | None) -> str:
    if media is None or media.width is None or media.height is None:
        return ""
    return f" {media.width:,} × {media.height:,}"


def _first_line(text: str) -> str:
    """The first line that holds anything, cut to a length nobody can see more of.

    Where that is a tag and no more (``<documents>``), what follows is what it is about.
    """
    tag = ""
    for line in text[: 8 * LONGEST].splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        if _ONLY_TAG.fullmatch(stripped):
            tag = tag or stripped
            continue
        return _clean(f"{tag} {_TAG.sub(' ', stripped)}" if tag else line)
    return _clean(tag) or _clean(text[: 8 * LONGEST])


def _clean(text: str) -> str:
    return visible(_SPACE.sub(" ", text[: 2 * LONGEST]).strip(), keep="")[:LONGEST]
