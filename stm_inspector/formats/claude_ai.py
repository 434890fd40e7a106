"""Claude.ai exports: conversations.json. See formats.md section 8b."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stm_inspector.conversation.model import Media, Message, Part, PartKind, Role
from stm_inspector.formats import blocks
from stm_inspector.formats.branches import branch_title, leaves, way_to
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    list_of,
    objects,
    some_objects,
    text_parts,
    thinking,
    when,
)

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_ONLY_NAME = "only its name is in the export"
_NO_MESSAGE = frozenset(("00000000-0000-4000-8000-000000000000",))
"""The parent of a first message."""


class ClaudeAI(TranscriptFormat):
    """What "Export data" of Claude.ai gives."""

    id = "claude-ai"
    title = "Claude.ai export"
    recognised_by = "Objects with chat_messages."
    lacks = (
        "Claude.ai's system prompt, its tool definitions, project knowledge and token counts; of "
        "files only names, or the text that was taken out of them."
    )
    section = "8"
    help = (
        "Shows the newest branch where messages name their parent, and offers the others. Calls "
        "and results that lie in one message stay there; text taken out of attachments is a "
        "document. Writes an Anthropic request body."
    )
    api = "anthropic-messages"
    not_here = ("Claude.ai's system prompt and its tool definitions are not in an export.",)

    def detect(self, document: Document) -> str | None:
        found = any(isinstance(v.get("chat_messages"), list) for v in some_objects(document))
        return "objects with chat_messages" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        found = []
        empty = 0
        for value in objects(document):
            own = [raw for raw in list_of(value.get("chat_messages")) if isinstance(raw, dict)]
            if own:
                found.append((value, own))
            else:
                empty += 1
        notes = [f"{counted(empty, 'conversation')} without messages: left out."] if empty else []
        return [talk for value, own in found for talk in _branches(value, own, notes)]


def _branches(
    value: dict[str, Any], own: Sequence[dict[str, Any]], notes: Sequence[str]
) -> list[Talk]:
    ids = [string(raw.get("uuid")) or f"#{place}" for place, raw in enumerate(own)]
    by_id = dict(zip(ids, own, strict=True))
    named = [string(raw.get("parent_message_uuid")) for raw in own]
    # Without parents it is a list: each message continues the one before it.
    linked = named if any(parent in by_id for parent in named) else [None, *ids[:-1]]
    parents = dict(zip(ids, linked, strict=True))
    current = string(value.get("current_leaf_message_uuid"))
    ends = leaves(parents, current if current in by_id else ids[-1])
    title = string(value.get("name")) or ""
    if len(ends) > 1:
        notes = [*notes, f"{counted(len(ends), 'branch', 'branches')}: a conversation each."]

    def reader(end: str) -> Callable[[], Reading]:
        return lambda: _read(end, by_id, parents, notes)

    return [
        Talk(
            reader(end),
            branch_title(title, place, len(ends)),
            string(value.get("model")),
            None,
            when(by_id[end].get("created_at")) or when(value.get("updated_at")),
        )
        for place, end in enumerate(ends)
    ]


def _read(
    end: str,
    by_id: dict[str, dict[str, Any]],
    parents: dict[str, str | None],
    notes: Sequence[str],
) -> Reading:
    way = way_to(end, parents, _NO_MESSAGE)
    messages = [message for id in way.ids if (message := _message(by_id[id])) is not None]
    empty = len(way.ids) - len(messages)
    more = [way.note] if way.note else []
    if empty:
        more.append(f"{counted(empty, 'message')} without content: left out.")
    return Reading(messages, [*notes, *more])


def _message(raw: dict[str, Any]) -> Message | None:
    word = string(raw.get("sender")) or ""
    content = list_of(raw.get("content"))
    # ``text`` repeats what ``content`` says.
    said = [_block(block) for block in content] if content else text_parts(raw.get("text"))
    parts = [*_attached(raw), *(part for part in said if not _is_empty(part))]
    if not parts:
        return None
    return Message(
        _ROLES.get(word, Role.USER),
        tuple(parts),
        source_role=word,
        id=string(raw.get("uuid")),
        time=when(raw.get("created_at")),
        raw=raw,
    )


def _is_empty(part: Part) -> bool:
    return part.kind is PartKind.TEXT and not part.text


def _block(block: Any) -> Part:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("tool_use", "tool_result"):
        return _of_tool(block)
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return thinking(block["thinking"], block, signed=bool(block.get("signature")))
    if kind == "thinking":
        steps = (step.get("summary") for step in list_of(block.get("summaries")) if _is(step))
        return thinking("\n".join(text for text in steps if isinstance(text, str)), block)
    if kind == "token_budget":
        return opaque(block)
    return blocks.part_of(block)


def _of_tool(block: dict[str, Any]) -> Part:
    """Claude.ai runs its tools itself: call and result may stand in one message."""
    part = blocks.part_of(block)
    return Part(
        part.kind,
        part.text,
        string(block.get("name")),
        part.call_id,
        part.parts,
        server=True,
        is_error=part.is_error,
        source_type=part.source_type,
        raw=block,
    )


def _is(value: Any) -> bool:
    return isinstance(value, dict)


def _attached(raw: dict[str, Any]) -> list[Part]:
    """Attachments with the text that was taken out of them, and files of which only names are."""
    found: list[Part] = []
    names: set[str] = set()
    for item in list_of(raw.get("attachments")):
        if not _is(item):
            continue
        name, text = string(item.get("file_name")), string(item.get("extracted_content")) or ""
        names.add(name or "")
        hidden = None if text else _ONLY_NAME
        media = Media(string(item.get("file_type")))
        found.append(
            Part(
                PartKind.DOCUMENT,
                text,
                name=name,
                media=media,
                hidden=hidden,
                source_type="attachment",
                raw=item,
            )
        )
    for key in ("files", "files_v2"):
        for item in list_of(raw.get(key)):
            name = string(item.get("file_name")) if _is(item) else None
            if name is None or name in names:
                continue
            names.add(name)
            found.append(
                Part(PartKind.DOCUMENT, name=name, hidden=_ONLY_NAME, source_type="file", raw=item)
            )
    return found
