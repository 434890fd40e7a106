"""A message as text to read: its parts in order, arguments pretty-printed. No Qt here."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stm_inspector.conversation.model import Conversation, Media, Message, Part, PartKind
from stm_inspector.conversation.visible import visible

KIND_TITLES = {
    PartKind.TEXT: "text",
    PartKind.TOOL_CALL: "tool call",
    PartKind.TOOL_RESULT: "tool result",
    PartKind.TOOL_DEFINITION: "tool definition",
    PartKind.IMAGE: "image",
    PartKind.DOCUMENT: "document",
    PartKind.THINKING: "thinking",
    PartKind.COMPACTION: "compaction summary",
    PartKind.OPAQUE: "unknown part",
}
PATH_KEYS = ("file_path", "path", "filename", "file", "notebook_path")
"""Arguments that usually name the file whose content a tool returns."""

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ ]*([\w+#.-]*)[^\n]*$")
_HEADING = re.compile(r"^#{1,6} ")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of whole lines of one look.

    Attributes:
        text: without the final line break.
        look: "title", "prose", "heading", "fence" or "code".
        lexer: name of a pygments lexer for "code", a file name to find one by, or "".
    """

    text: str
    look: str
    lexer: str = ""


def stretches(conversation: Conversation, index: int) -> list[Stretch]:
    """Message ``index`` for reading; control and direction characters are made visible."""
    message = conversation.messages[index]
    shown = list(_message(conversation, index, message))
    if not shown:
        shown = [Stretch("This message has no content.", "title")]
    return shown


def _message(conversation: Conversation, index: int, message: Message) -> Iterator[Stretch]:
    titled = len(message.parts) > 1
    for place, part in enumerate(message.parts):
        if place:
            yield Stretch("", "prose")
        call = call_of(conversation, (index, place))
        yield from _part(part, titled=titled, call=call)


def _part(part: Part, *, titled: bool, call: Part | None = None) -> Iterator[Stretch]:
    if titled and part.kind is not PartKind.TEXT:
        yield Stretch(part_title(part, call), "title")
    if part.hidden:
        yield Stretch(f"Not in this file: {visible(part.hidden)}.", "prose")
    if part.media is not None:
        yield Stretch(media_facts(part.media), "prose")
    text = visible(part.text)
    if part.kind in (PartKind.TOOL_CALL, PartKind.TOOL_DEFINITION):
        yield from _code(visible(pretty(part.text)), "json")
    elif part.kind is PartKind.TOOL_RESULT:
        yield from _code(text, _result_lexer(text, _file_asked(call)))
    elif text:
        yield from _markdown(text)
    if part.kind is PartKind.OPAQUE and not text:
        yield from _code(visible(raw_json(part.raw)), "json")
    for inner in part.parts:
        yield from _part(inner, titled=inner.kind is not PartKind.TEXT)


def _code(text: str, lexer: str) -> Iterator[Stretch]:
    if text:
        yield Stretch(text, "code", lexer)


def part_title(part: Part, call: Part | None = None) -> str:
    """What a part is, in a few words: "tool result · read_file · failed".

    ``call`` is the tool call that a result answers; it knows the name where the result does not.
    """
    words = [KIND_TITLES[part.kind]]
    name = part.name or (call.name if call is not None else None)
    if name:
        words.append(visible(name, keep=""))
    if part.server:
        words.append("run by the provider")
    if part.is_error:
        words.append("failed")
    if part.kind is PartKind.OPAQUE and part.source_type:
        words.append(visible(part.source_type))
    return " · ".join(words)


def media_facts(media: Media) -> str:
    """What is known of an image or document: "image/png · 800 × 600 pixels · 41,203 bytes"."""
    facts = [visible(media.media_type)] if media.media_type else []
    if media.width is not None and media.height is not None:
        facts.append(f"{media.width:,} × {media.height:,} pixels")
    if media.pages is not None:
        facts.append(f"{media.pages:,} pages")
    if media.size is not None:
        facts.append(f"{media.size:,} bytes")
    if media.detail:
        facts.append(f"detail {visible(media.detail)}")
    if media.url:
        facts.append(f"at {visible(media.url)[:200]} (never fetched)")
    return " · ".join(facts) or "The file says nothing about it."


def pretty(text: str) -> str:
    """JSON text indented by two; any other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return raw_json(value) if isinstance(value, dict | list) else text


def raw_json(value: Any) -> str:
    """A parsed JSON value, indented; what is no JSON value stands as its text."""
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except RecursionError:
        return "Nested too deeply to be shown."


def _result_lexer(text: str, file: str) -> str:
    start = text[:200].lstrip()
    if start.startswith(("diff --git ", "--- a/")):
        return "diff"
    if start[:1] in ("{", "[") and text.rstrip()[-1:] in ("}", "]"):
        return "json"
    return file


def call_of(conversation: Conversation, result: tuple[int, int]) -> Part | None:
    """The call that the tool result at (message, part) answers, or None for an orphan."""
    links = conversation.structure.links
    place = bisect_left(links, result, key=lambda link: link.result)
    if place == len(links) or links[place].result != result:
        return None
    index, part = links[place].call
    return conversation.messages[index].parts[part]


def _file_asked(call: Part | None) -> str:
    """The name of the file that a tool call asks for, or ""."""
    if call is None:
        return ""
    try:
        arguments = json.loads(call.text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(arguments, dict):
        return ""
    named = (arguments.get(key) for key in PATH_KEYS)
    return next((value for value in named if isinstance(value, str)), "")


def _markdown(text: str) -> Iterator[Stretch]:
    """Split prose from fenced code."""
    lines: list[str] = []
    look, lexer, fence = "prose", "", ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        closing = fence and found and found[1][0] == fence[0] and len(found[1]) >= len(fence)
        if closing or (found and not fence):
            assert found is not None
            yield from _flush(lines, look, lexer)
            yield Stretch(line, "fence")
            lines = []
            fence, lexer = ("", "") if closing else (found[1], found[2].lower())
            look = "code" if fence else "prose"
        elif not fence and _HEADING.match(line):
            yield from _flush(lines, look, lexer)
            yield Stretch(line, "heading")
            lines = []
        else:
            lines.append(line)
    yield from _flush(lines, look, lexer)


def _flush(lines: list[str], look: str, lexer: str) -> Iterator[Stretch]:
    if lines:
        yield Stretch("\n".join(lines), look, lexer)
