"""ShareGPT and fine-tuning sets, as LLaMA-Factory reads them. See formats.md section 9."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Media, Message, Part, PartKind, Role, Skipped
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    call,
    list_of,
    objects,
    result,
    shortened,
    some_objects,
    system_message,
    text_parts,
    thinking,
    tools_message,
)

_ROLES = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "function_call": Role.ASSISTANT,
    "observation": Role.TOOL,
    "tool": Role.TOOL,
}
_PLACEHOLDER = "<image>"
_LISTS = ("conversations", "messages")


class ShareGPT(TranscriptFormat):
    """Data sets of conversations: an array of them, or one a line."""

    id = "sharegpt"
    title = "ShareGPT or fine-tuning set"
    recognised_by = (
        "Objects with conversations of {from, value}; or messages whose parts have a value, or "
        "that stand beside images or a chosen and a rejected answer."
    )
    lacks = "Ids of calls, model, times and token counts; of images only paths."
    section = "9"
    help = (
        "Each record is a conversation. Tools in a JSON string become tool definitions, a "
        "function_call a call and the observation behind it its result. Of preference data both "
        "answers are offered, each as the end of a conversation of its own. Writes an OpenAI Chat "
        "request body."
    )

    def detect(self, document: Document) -> str | None:
        found = any(_list_of_turns(value) is not None for value in some_objects(document))
        return "records of {from, value} or of typed values" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        every = list(objects(document))
        known = [value for value in every if _list_of_turns(value) is not None]
        return [
            talk
            for value in known or every
            if isinstance(_turns(value), list)
            for talk in _talks(value)
        ]


def _turns(value: dict[str, Any]) -> Any:
    return next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)


def _list_of_turns(value: dict[str, Any]) -> list[Any] | None:
    """The turns of a record of a data set; None where it is something else."""
    turns = _turns(value)
    if not isinstance(turns, list):
        return None
    if any(isinstance(turn, dict) and "from" in turn and "value" in turn for turn in turns):
        return turns
    if not any(isinstance(turn, dict) and "role" in turn for turn in turns):
        return None
    if "chosen" in value or "rejected" in value or isinstance(value.get("images"), list):
        return turns
    return turns if any(_has_values(turn) for turn in turns) else None


def _has_values(turn: Any) -> bool:
    content = turn.get("content") if isinstance(turn, dict) else None
    return isinstance(content, list) and any(
        isinstance(part, dict) and "type" in part and "value" in part and len(part) <= 3
        for part in content
    )


def _talks(value: dict[str, Any]) -> Iterator[Talk]:
    title = _title(_turns(value))
    ends: list[str | None] = [key for key in ("chosen", "rejected") if value.get(key)]
    for end in ends or [None]:
        shown = f"{title} ({end})" if end else title
        yield Talk(partial(_read, value, end), shown)


def _title(turns: Sequence[Any]) -> str:
    for turn in turns:
        word, content = _said(turn)
        if _ROLES.get(word) is Role.USER:
            parts = content if isinstance(content, list) else [{"value": content}]
            texts = (string(part.get("value")) for part in parts if isinstance(part, dict))
            return shortened(next((text for text in texts if text), ""))
    return ""


def _said(turn: Any) -> tuple[str, Any]:
    """Who speaks and what, in either spelling."""
    if not isinstance(turn, dict):
        return "", None
    return str(turn.get("from", turn.get("role"))), turn.get("value", turn.get("content"))


def _read(value: dict[str, Any], end: str | None) -> Reading:
    turns = list(_turns(value))
    if end is not None:
        last = value[end]
        turns += last if isinstance(last, list) else [last]
    images = iter(list_of(value.get("images")))
    messages: list[Message] = []
    bad = 0
    for turn in turns:
        if not isinstance(turn, dict):
            turn = {"role": "assistant", "content": turn} if isinstance(turn, str) else {}
        word, content = _said(turn)
        role = _ROLES.get(word)
        parts = _parts(word, role, content, images)
        if role is None or not parts:
            bad += 1
        else:
            messages.append(Message(role, tuple(parts), source_role=word, raw=turn))
    skipped = [Skipped(None, f"{counted(bad, 'turn')} of unknown speakers, or empty")]
    outside = [*system_message(string(value.get("system"))), *tools_message(_tools(value))]
    notes = [f"The last message is the {end} answer."] if end else []
    return Reading([*outside, *messages] if messages else [], notes, skipped if bad else [])


def _tools(value: dict[str, Any]) -> Any:
    """Tool definitions; they stand in a JSON string."""
    tools = value.get("tools")
    parsed = _parsed(tools) if isinstance(tools, str) else tools
    return parsed if isinstance(parsed, list) or not parsed else [parsed]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parts(word: str, role: Role | None, content: Any, images: Iterator[Any]) -> list[Part]:
    if word == "function_call":
        return _calls(content)
    if role is Role.TOOL:
        text = content
        if isinstance(content, list):
            text = "\n".join(
                part["value"]
                for part in content
                if isinstance(part, dict) and isinstance(part.get("value"), str)
            )
        return _results(text)
    if isinstance(content, list):
        return [part for item in content for part in _piece(item)]
    return _with_images(content, images) if isinstance(content, str) else text_parts(content)


def _piece(item: Any) -> list[Part]:
    """A part with a type and a value."""
    kind = string(item.get("type")) if isinstance(item, dict) else None
    value = item.get("value") if isinstance(item, dict) else None
    if not isinstance(value, str):
        return [opaque(item)]
    if kind == "text":
        return text_parts(value)
    if kind == "reasoning":
        return [thinking(value, item, kind)]
    if kind == "tool_call":
        return _calls(value)
    return [_image(value, item)] if kind == "image_url" else [opaque(item)]


def _calls(content: Any) -> list[Part]:
    """The calls of a turn: JSON of one {name, arguments}, or of a list of them."""
    made = _parsed(content) if isinstance(content, str) else content
    calls = made if isinstance(made, list) else [made]
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in calls):
        return text_parts(content)
    return [call(one["name"], one.get("arguments"), one.get("id"), one) for one in calls]


def _results(text: Any) -> list[Part]:
    """The result of a call, or of several that are answered in one turn."""
    several = _parsed(text) if isinstance(text, str) and text.startswith("[") else None
    if several and all(
        isinstance(one, dict) and {"tool_call_id", "content"} <= one.keys()
        for one in list_of(several)
    ):
        return [
            result(one.get("name"), one["content"], one["tool_call_id"], one) for one in several
        ]
    return [result(None, text, None, text)]


def _with_images(text: str, images: Iterator[Any]) -> list[Part]:
    """A text with the next of ``images`` at each placeholder."""
    parts: list[Part] = []
    for place, words in enumerate(text.split(_PLACEHOLDER)):
        if place:
            found = next(images, None)
            parts += [_image(found, found)] if isinstance(found, str) else text_parts(_PLACEHOLDER)
        parts += text_parts(words)
    return parts


def _image(path: str, raw: Any) -> Part:
    media = Media(url=path)
    return Part(PartKind.IMAGE, media=media, hidden=ONLY_ADDRESS, source_type="image", raw=raw)
