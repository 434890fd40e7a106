"""pydantic-ai message histories. See formats.md section 17."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Skipped, Usage
from stm_inspector.formats import media
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import AT_PROVIDER, ONLY_ADDRESS, counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    call,
    latest,
    list_of,
    lists,
    number,
    object_of,
    objects,
    result,
    sampled,
    some_objects,
    system_message,
    text_parts,
    when,
)

_KINDS = frozenset(("request", "response"))
_ANSWERS = frozenset(("tool-return", "retry-prompt"))


class PydanticAI(TranscriptFormat):
    """What ``all_messages_json`` of a run gives."""

    id = "pydantic-ai"
    title = "pydantic-ai messages"
    recognised_by = "Messages of the kind request or response with parts that have a part_kind."
    lacks = "Tool definitions."
    section = "17"
    help = (
        "A request becomes a message for each speaker in it; of the instructions, which every "
        "request repeats, the newest are the system prompt. Writes the request body of the API "
        "of the provider that answered."
    )
    not_here = ("Tool definitions are not among pydantic-ai's messages.",)

    def detect(self, document: Document) -> str | None:
        found = next(_histories(document, some_objects(document)), None) is not None
        return "messages of the kind request or response with a part_kind" if found else None

    def talks(self, document: Document) -> Sequence[Talk]:
        return [
            Talk(
                partial(_read, messages),
                "",
                _last(messages, "model_name"),
                None,
                latest(raw.get("timestamp") for raw in messages if isinstance(raw, dict)),
            )
            for messages in _histories(document, objects(document))
        ]


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and str(value.get("kind")) in _KINDS
        and any(isinstance(p, dict) and "part_kind" in p for p in list_of(value.get("parts")))
    )


def _histories(document: Document, values: Iterable[dict[str, Any]]) -> Iterator[list[Any]]:
    for found in lists(document):
        if any(_is_message(item) for item in sampled(found)):
            yield found
            return
    for value in values:
        messages = [value] if _is_message(value) else list_of(value.get("messages"))
        if any(_is_message(item) for item in sampled(messages)):
            yield messages


def _last(messages: Sequence[Any], key: str) -> str | None:
    said = (string(raw.get(key)) for raw in reversed(messages) if isinstance(raw, dict))
    return next((name for name in said if name), None)


def _read(messages: Sequence[Any]) -> Reading:
    read: list[Message] = []
    bad = 0
    for raw in messages:
        if not isinstance(raw, dict) or str(raw.get("kind")) not in _KINDS:
            bad += 1
        elif raw["kind"] == "response":
            read.append(_response(raw))
        else:
            read += _request(raw)
    skipped = [Skipped(None, f"{counted(bad, 'message')} of no known kind")] if bad else []
    system = system_message(_last(messages, "instructions"), "instructions")
    return Reading(
        [*system, *read] if read else [],
        skipped=skipped,
        api=api_of(_last(messages, "provider_name"), _last(messages, "model_name")),
    )


def _role_of(part: Any) -> Role:
    kind = part.get("part_kind") if isinstance(part, dict) else None
    if kind == "system-prompt":
        return Role.SYSTEM
    # A retry without a tool tells the model that its answer was not valid.
    answers = kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name"))
    return Role.TOOL if answers else Role.USER


def _request(raw: dict[str, Any]) -> Iterator[Message]:
    for role, group in groupby(list_of(raw.get("parts")), _role_of):
        own = list(group)
        parts = [part for item in own for part in _asked(item)]
        if parts:
            yield Message(
                role,
                tuple(parts),
                source_role="request",
                time=latest(item.get("timestamp") for item in own if isinstance(item, dict))
                or when(raw.get("timestamp")),
                injected=all(_kind(item) == "retry-prompt" for item in own),
                raw={**raw, "parts": own},
            )


def _kind(part: Any) -> str:
    return (string(part.get("part_kind")) or "") if isinstance(part, dict) else ""


def _asked(part: Any) -> list[Part]:
    kind = _kind(part)
    content = part.get("content") if isinstance(part, dict) else None
    if kind in _ANSWERS and _role_of(part) is Role.TOOL:
        failed = kind == "retry-prompt" or part.get("outcome") in ("failed", "retried", "denied")
        name, id = part.get("tool_name"), part.get("tool_call_id")
        return [result(name, content, id, part, kind, is_error=failed)]
    if kind in ("system-prompt", "user-prompt", "retry-prompt"):
        if isinstance(content, list) and kind == "user-prompt":
            return [piece for item in content for piece in _piece(item)]
        return text_parts(content, kind)
    return [opaque(part)]


def _piece(item: Any) -> list[Part]:
    """A text, data, or the address of something."""
    if not isinstance(item, dict):
        return text_parts(item)
    kind = string(item.get("kind")) or ""
    data, address = string(item.get("data")), string(item.get("url"))
    mime = string(item.get("media_type"))
    image = kind == "image-url" or (mime or "").startswith("image/")
    if kind == "binary" and data is not None:
        found = media.from_base64(data, mime)
    elif kind in ("image-url", "document-url") and address is not None:
        found = media.from_url(address)
    else:
        return text_parts(item["content"]) if "content" in item else [opaque(item)]
    if not image and (mime or "").startswith(("audio/", "video/")):
        return [opaque(item, media=found)]
    return [
        Part(
            PartKind.IMAGE if image else PartKind.DOCUMENT,
            media=found,
            hidden=ONLY_ADDRESS if found.url else None,
            source_type=kind,
            raw=item,
        )
    ]


def _response(raw: dict[str, Any]) -> Message:
    parts = [part for item in list_of(raw.get("parts")) for part in _answered(item)]
    return Message(
        Role.ASSISTANT,
        tuple(parts),
        source_role="response",
        id=string(raw.get("provider_response_id")),
        time=when(raw.get("timestamp")),
        model=string(raw.get("model_name")),
        usage=_usage(raw.get("usage")),
        raw=raw,
    )


def _answered(part: Any) -> list[Part]:
    kind = _kind(part)
    if kind == "text":
        return text_parts(part.get("content"))
    if kind == "thinking":
        text, signed = string(part.get("content")) or "", bool(part.get("signature"))
        hidden = AT_PROVIDER if signed and not text else None
        return [
            Part(PartKind.THINKING, text, hidden=hidden, signed=signed, source_type=kind, raw=part)
        ]
    if kind not in ("tool-call", "builtin-tool-call", "builtin-tool-return"):
        return [opaque(part)]
    server = kind != "tool-call"
    name, id = string(part.get("tool_name")), string(part.get("tool_call_id"))
    found = (
        result(name, part.get("content"), id, part, kind)
        if kind == "builtin-tool-return"
        else call(name, part.get("args"), id, part, kind)
    )
    if not server:
        return [found]
    return [Part(found.kind, found.text, name, id, server=True, source_type=kind, raw=part)]


def _usage(usage: Any) -> Usage | None:
    """Cached tokens are part of ``input_tokens``, whatever the provider."""
    said = object_of(usage)
    sent = said.get("input_tokens", said.get("request_tokens"))
    written = said.get("output_tokens", said.get("response_tokens"))
    if number(sent) is None and number(written) is None:
        return None
    return Usage(
        number(sent),
        number(written),
        number(said.get("cache_read_tokens")),
        number(said.get("cache_write_tokens")),
    )
