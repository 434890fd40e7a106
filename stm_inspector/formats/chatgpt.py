"""ChatGPT exports: conversations.json, or one conversation. See formats.md section 8a."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stm_inspector.conversation.model import Media, Message, Part, PartKind, Role
from stm_inspector.formats.branches import branch_title, leaves, way_to
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    call,
    list_of,
    number,
    object_of,
    objects,
    result,
    some_objects,
    text_parts,
    thinking,
    when,
)
from stm_inspector.formats.wire import ROLES

_POINTER = "only a pointer to it is in the export"
_FOR_THE_EYE = "a line of ChatGPT's own view that was not sent to the model"
_TO_ALL = frozenset(("all", "user", ""))
_NOTHING: frozenset[str] = frozenset()


class ChatGPT(TranscriptFormat):
    """What "Export data" of ChatGPT gives, and conversations as its own interface sends them."""

    id = "chatgpt"
    title = "ChatGPT export"
    recognised_by = "Objects with a mapping, the tree of a conversation's messages."
    lacks = (
        "ChatGPT's system prompt, its tool definitions and token counts; pictures and files are "
        "only pointed to."
    )
    section = "8"
    help = (
        "Shows the branch that the conversation stands on, and offers the others as conversations "
        "of their own. A message of the assistant to a tool is a call, the tool's message behind "
        "it the result. Writes an OpenAI Chat request body."
    )
    not_here = (
        "ChatGPT's system prompt and its tool definitions are not in an export; the system "
        "messages in it are empty or the user's own instructions.",
    )

    def detect(self, document: Document) -> str | None:
        found = any(_is_conversation(value) for value in some_objects(document))
        return "objects with a mapping of messages" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        every = list(objects(document))
        found = [value for value in every if _is_conversation(value)]
        others = len(every) - len(found)
        notes = (
            [f"{counted(others, 'entry', 'entries')} without messages in this file: left out."]
            if others
            else []
        )
        return [talk for value in found for talk in _branches(value, notes)]


def _is_conversation(value: dict[str, Any]) -> bool:
    mapping = value.get("mapping")
    return isinstance(mapping, dict) and any(
        isinstance(node, dict) and ("message" in node or "parent" in node)
        for node in mapping.values()
    )


@dataclass(frozen=True, slots=True)
class _Tree:
    """A conversation: its nodes and the parent of each."""

    nodes: dict[str, dict[str, Any]]
    parents: dict[str, str | None]

    def read(self, leaf: str, notes: Sequence[str]) -> Reading:
        """The messages up to ``leaf``."""
        way = way_to(leaf, self.parents, _NOTHING)
        nodes = [self.nodes[id] for id in way.ids]
        counts: Counter[str] = Counter()
        messages: list[Message] = []
        waiting = 0
        for node in nodes:
            message = _message(node, counts)
            if message is None:
                continue
            kinds = [part.kind for part in message.parts]
            if PartKind.TOOL_CALL in kinds:
                waiting += 1
            elif PartKind.TOOL_RESULT in kinds:
                if not waiting and _continues(messages, message):
                    messages[-1] = _joined(messages[-1], message)
                    continue
                waiting = max(0, waiting - 1)
            messages.append(message)
        more = [f"{counted(counts[what], what)} not shown: empty." for what in sorted(counts)]
        return Reading(messages, [*notes, *([way.note] if way.note else []), *more])


def _branches(value: dict[str, Any], notes: Sequence[str]) -> list[Talk]:
    nodes = {id: node for id, node in value["mapping"].items() if isinstance(node, dict)}
    tree = _Tree(nodes, {id: string(node.get("parent")) for id, node in nodes.items()})
    ends = [
        end
        for end in leaves(tree.parents, string(value.get("current_node")))
        if object_of(nodes[end].get("message"))
    ] or list(nodes)[-1:]
    title = string(value.get("title")) or ""
    model = string(value.get("default_model_slug"))
    time = when(value.get("update_time")) or when(value.get("create_time"))
    if len(ends) > 1:
        notes = [*notes, f"{counted(len(ends), 'branch', 'branches')}: a conversation each."]

    def reader(end: str) -> Callable[[], Reading]:
        return lambda: tree.read(end, notes)

    return [
        Talk(
            reader(end),
            branch_title(title, place, len(ends)),
            model or _model(nodes[end]),
            None,
            time if place == 0 else when(object_of(nodes[end].get("message")).get("create_time")),
        )
        for place, end in enumerate(ends)
    ]


def _model(node: dict[str, Any]) -> str | None:
    metadata = object_of(object_of(node.get("message")).get("metadata"))
    return string(metadata.get("model_slug"))


def _continues(messages: Sequence[Message], message: Message) -> bool:
    """A tool that answers in several messages: they are one result."""
    return bool(messages) and messages[-1].role is Role.TOOL and messages[-1].name == message.name


def _joined(one: Message, other: Message) -> Message:
    first, more = one.parts[0], other.parts[0]
    texts = (*first.parts, *text_parts(more.text), *more.parts)
    part = result(first.name, first.text, None, first.raw, first.source_type, parts=texts)
    return Message(
        one.role,
        (part,),
        source_role=one.source_role,
        name=one.name,
        id=one.id,
        time=other.time,
        injected=one.injected,
        raw=one.raw,
    )


def _message(node: dict[str, Any], counts: Counter[str]) -> Message | None:
    """The message of a node; None where it holds none (the root, an empty system message)."""
    raw = object_of(node.get("message"))
    author = object_of(raw.get("author"))
    word = string(author.get("role")) or ""
    if not raw:
        return None
    content = raw.get("content")
    parts = _parts(content)
    metadata = object_of(raw.get("metadata"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or raw.get("weight") == 0
    role = ROLES.get(word, Role.SYSTEM)
    recipient = string(raw.get("recipient")) or ""
    name = string(author.get("name"))
    if role is Role.TOOL:
        text, rest = ("", parts)
        if parts and parts[0].kind is PartKind.TEXT:
            text, rest = parts[0].text, parts[1:]
        parts = [result(name, text, None, content, _kind(content), parts=rest)]
    elif role is Role.ASSISTANT and recipient not in _TO_ALL:
        said = [part for part in parts if part.kind is not PartKind.TEXT]
        words = "\n".join(part.text for part in parts if part.kind is PartKind.TEXT)
        parts = [*said, call(recipient, words, None, content, _kind(content))]
    if not parts:
        if role is not Role.SYSTEM:
            counts[f"message of the {role}"] += 1
        return None
    return Message(
        role,
        tuple(parts),
        source_role=word,
        name=name,
        id=string(raw.get("id")),
        time=when(raw.get("create_time")),
        model=string(metadata.get("model_slug")),
        injected=hidden or _kind(content) in ("user_editable_context", "model_editable_context"),
        unused=_FOR_THE_EYE if _kind(content) == "reasoning_recap" else None,
        tags={"hidden": True} if hidden else {},
        raw=raw,
    )


def _kind(content: Any) -> str:
    return string(object_of(content).get("content_type")) or "text"


def _parts(content: Any) -> list[Part]:
    if not isinstance(content, dict):
        return text_parts(content)
    kind = _kind(content)
    if kind == "thoughts":
        steps = list_of(content.get("thoughts")) or list_of(content.get("parts"))
        return [thinking(_thought(step), step, kind) for step in steps]
    if kind == "reasoning_recap":
        said = string(content.get("content")) or "\n".join(_strings(content.get("parts")))
        return [thinking(said, content, kind)] if said else []
    if kind == "user_editable_context":
        own = [string(content.get(key)) for key in ("user_profile", "user_instructions")]
        return text_parts("\n\n".join(text for text in own if text), kind)
    if isinstance(content.get("parts"), list):
        return [part for item in content["parts"] for part in _piece(item)]
    for key in ("text", "result", "model_set_context"):
        if isinstance(content.get(key), str):
            title = string(content.get("title")) if kind == "tether_quote" else None
            return text_parts(f"{title}\n{content[key]}" if title else content[key], kind)
    return [opaque(content)]


def _strings(value: Any) -> list[str]:
    return [item for item in list_of(value) if isinstance(item, str)]


def _thought(step: Any) -> str:
    if not isinstance(step, dict):
        return string(step) or ""
    words = (string(step.get("summary")), string(step.get("content")))
    return "\n".join(word for word in words if word)


def _piece(item: Any) -> list[Part]:
    """An element of ``parts``: a text, a pointer to a picture, a transcript of sound."""
    if not isinstance(item, dict):
        return text_parts(item)
    kind = string(item.get("content_type")) or ""
    if kind == "image_asset_pointer" or (kind.startswith("image") and "asset_pointer" in item):
        media = Media(
            width=number(item.get("width")),
            height=number(item.get("height")),
            size=number(item.get("size_bytes")),
        )
        return [Part(PartKind.IMAGE, media=media, hidden=_POINTER, source_type=kind, raw=item)]
    if kind == "audio_transcription":
        return text_parts(item.get("text"), kind)
    return [opaque(item, hidden=_POINTER if "asset_pointer" in str(list(item)) else None)]
