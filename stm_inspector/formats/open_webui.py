"""Open WebUI exports. See formats.md section 24."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Usage
from stm_inspector.formats import media
from stm_inspector.formats.branches import branch_title, leaves, way_to
from stm_inspector.formats.document import Document
from stm_inspector.formats.openai_parts import content_part
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    answered,
    api_of,
    call,
    list_of,
    number,
    object_of,
    objects,
    result,
    some_objects,
    system_message,
    text_parts,
    thinking,
    when,
)
from stm_inspector.formats.wire import ROLES

_NO_ROOT: frozenset[str] = frozenset()
_ONLY_ID = "only its id is in the export"

_DETAILS = re.compile(r'<details type="(reasoning|tool_calls)"([^>]*)>(.*?)</details>', re.DOTALL)
"""What the program folds away in an answer; what stands in it is escaped."""
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


class OpenWebUI(TranscriptFormat):
    """Chats that Open WebUI exported."""

    id = "open-webui"
    title = "Open WebUI export"
    recognised_by = "Objects with chat.history.messages."
    lacks = "The system prompt of a model, tool definitions, the data of files."
    section = "24"
    help = (
        "Shows the branch that the chat stands on and offers the others. What an answer did "
        "(reasoning, calls, results) is read from its output, or, in older exports, from the "
        "folded details in its text. Writes an OpenAI Chat request body."
    )
    not_here = (
        "The system prompt that was set for the model, the tool definitions and the data of files "
        "are not in an Open WebUI export.",
    )

    def detect(self, document: Document) -> str | None:
        found = any(_nodes(value) is not None for value in some_objects(document))
        return "objects with chat.history.messages" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            talk
            for value in objects(document)
            if (nodes := _nodes(value))
            for talk in _branches(value, nodes)
        ]


def _nodes(value: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
    """The messages of a chat by id; None where it is none."""
    history = object_of(object_of(value.get("chat")).get("history"))
    messages = history.get("messages")
    if not isinstance(messages, dict):
        return None
    return {id: raw for id, raw in messages.items() if isinstance(raw, dict)}


def _branches(value: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> list[Talk]:
    chat = object_of(value.get("chat"))
    parents = {id: string(raw.get("parentId")) for id, raw in nodes.items()}
    ends = leaves(parents, string(object_of(chat.get("history")).get("currentId")))
    title = string(value.get("title")) or string(chat.get("title")) or ""
    many = counted(len(ends), "branch", "branches")
    notes = [f"{many}: a conversation each."] if len(ends) > 1 else []
    models = [name for name in list_of(chat.get("models")) if isinstance(name, str)]
    system = system_message(
        string(object_of(chat.get("params")).get("system")) or string(chat.get("system"))
    )

    def reader(end: str) -> Callable[[], Reading]:
        def read() -> Reading:
            way = way_to(end, parents, _NO_ROOT)
            said = [message for id in way.ids for message in _messages(nodes[id])]
            more = [way.note] if way.note else []
            return Reading(
                [*system, *said] if said else [], [*notes, *more], api=api_of(*models[:1])
            )

        return read

    return [
        Talk(
            reader(end),
            branch_title(title, place, len(ends)),
            string(nodes[end].get("model")) or (models[0] if models else None),
            None,
            when(nodes[end].get("timestamp")) or when(value.get("updated_at")),
        )
        for place, end in enumerate(ends)
    ]


def _messages(raw: dict[str, Any]) -> list[Message]:
    word = string(raw.get("role")) or ""
    role = ROLES.get(word, Role.USER)
    usage = _usage(raw.get("usage") or object_of(raw.get("info")).get("usage"))

    def make(role: Role, parts: tuple[Part, ...]) -> Message:
        return Message(
            role,
            parts,
            source_role=word,
            id=string(raw.get("id")),
            time=when(raw.get("timestamp")),
            model=string(raw.get("model")) if role is Role.ASSISTANT else None,
            usage=usage if role is Role.ASSISTANT else None,
            raw=raw,
        )

    if role is not Role.ASSISTANT:
        parts = [*_said(raw.get("content")), *_files(raw.get("files"))]
        return [make(role, tuple(parts))] if parts else []
    output = list_of(raw.get("output"))
    if output:
        return answered((p for item in output for p in _item(item)), in_turn=True, make=make)
    content = raw.get("content")
    parts = list(_unfolded(content)) if isinstance(content, str) else _said(content)
    return answered(parts, in_turn=True, make=make)


def _said(content: Any) -> list[Part]:
    if isinstance(content, list):
        return [content_part(item) for item in content]
    return text_parts(content)


def _files(files: Any) -> Iterator[Part]:
    for item in list_of(files):
        if not isinstance(item, dict):
            continue
        url = string(item.get("url")) or ""
        if item.get("type") == "image" and url:
            found = media.from_url(url)
            hidden = _ONLY_ID if found.url else None
            yield Part(PartKind.IMAGE, media=found, hidden=hidden, source_type="image", raw=item)
        else:
            name = string(item.get("name")) or string(object_of(item.get("file")).get("filename"))
            text = string(object_of(object_of(item.get("file")).get("data")).get("content"))
            yield Part(
                PartKind.DOCUMENT,
                text or "",
                name=name,
                hidden=None if text else _ONLY_ID,
                source_type=string(item.get("type")) or "file",
                raw=item,
            )


def _item(item: Any) -> list[Part]:
    """An item of ``output``, which is like those of OpenAI Responses."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "reasoning":
        words = _texts(item.get("content")) or _texts(item.get("summary"))
        return [thinking(words, item, "reasoning")] if words else [opaque(item)]
    if kind == "message":
        return text_parts(_texts(item.get("content")))
    if kind == "function_call":
        return [call(item.get("name"), item.get("arguments"), item.get("call_id"), item, kind)]
    if kind == "function_call_output":
        output = item.get("output")
        text = _texts(output) if isinstance(output, list) else output
        return [result(item.get("name"), text, item.get("call_id"), item, kind)]
    return [opaque(item)]


def _texts(parts: Any) -> str:
    return "\n".join(
        part["text"]
        for part in list_of(parts)
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _unfolded(content: str) -> Iterator[Part]:
    """The text of an answer, with what is folded away in it as what it was."""
    done = 0
    for found in _DETAILS.finditer(content):
        yield from text_parts(content[done : found.start()].strip("\n"))
        done = found.end()
        inner = html.unescape(_SUMMARY.sub("", found[3]))
        if found[1] == "reasoning":
            yield thinking(_QUOTED.sub("", inner), found[0], "reasoning")
            continue
        said = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(found[2])}
        yield call(said.get("name"), said.get("arguments"), said.get("id"), found[0])
        yield result(said.get("name"), said.get("result", inner), said.get("id"), found[0])
    yield from text_parts(content[done:].strip("\n"))


def _usage(usage: Any) -> Usage | None:
    said = object_of(usage)
    sent = number(said.get("prompt_tokens", said.get("prompt_eval_count")))
    written = number(said.get("completion_tokens", said.get("eval_count")))
    return Usage(sent, written) if sent is not None or written is not None else None
