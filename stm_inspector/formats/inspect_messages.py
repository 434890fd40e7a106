"""Parts of the messages of Inspect. See formats.md section 13.

https://inspect.aisi.org.uk/reference/inspect_ai.model.html#messages
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stm_inspector.conversation.model import Part, PartKind
from stm_inspector.formats import media
from stm_inspector.formats.parts import ENCRYPTED, ONLY_ADDRESS, first_and_rest, opaque, string
from stm_inspector.formats.transcript import call, list_of, object_of, result, text_parts


def parts_of(raw: dict[str, Any]) -> list[Part]:
    """The parts of a message: its content and its calls, or the one result that it is."""
    content = raw.get("content")
    items = content if isinstance(content, list) else [content]
    said = [part for item in items for part in _content(item)]
    if raw.get("role") == "tool":
        return [_result(raw, said)]
    return said + [_call(item) for item in list_of(raw.get("tool_calls"))]


def _call(item: Any) -> Part:
    if not isinstance(item, dict):
        return opaque(item)
    return call(item.get("function"), item.get("arguments"), item.get("id"), item)


def _result(raw: dict[str, Any], said: list[Part]) -> Part:
    """A failed call without a content answers with the error's message."""
    text, rest = first_and_rest(said)
    failed = object_of(raw.get("error"))
    text = text or (string(failed.get("message")) or "")
    name = raw.get("function")
    return result(
        name, text, raw.get("tool_call_id"), raw, "tool", parts=rest, is_error=bool(failed)
    )


def _content(item: Any) -> Iterator[Part]:
    if not isinstance(item, dict):
        yield from text_parts(item)
        return
    kind = string(item.get("type")) or ""
    if kind == "text" and isinstance(item.get("text"), str):
        yield Part(PartKind.TEXT, item["text"], source_type=kind, raw=item)
    elif kind == "reasoning":
        yield _reasoning(item)
    elif kind == "image" and isinstance(item.get("image"), str):
        found = media.from_url(item["image"], string(item.get("detail")))
        hidden = ONLY_ADDRESS if found.url else None
        yield Part(PartKind.IMAGE, media=found, hidden=hidden, source_type=kind, raw=item)
    elif kind == "document" and isinstance(item.get("document"), str):
        found = media.from_url(item["document"])
        hidden = ONLY_ADDRESS if found.url else None
        name = string(item.get("filename"))
        yield Part(
            PartKind.DOCUMENT, "", name, None, (), found, hidden=hidden, source_type=kind, raw=item
        )
    elif kind == "tool_use":
        yield from _ran_by_provider(item)
    else:
        yield opaque(item)


def _reasoning(item: dict[str, Any]) -> Part:
    """Redacted reasoning is encrypted; its summary, where there is one, is what can be read."""
    redacted = item.get("redacted") is True
    text = string(item.get("summary" if redacted else "reasoning")) or ""
    return Part(
        PartKind.THINKING,
        text,
        hidden=ENCRYPTED if redacted else None,
        signed=redacted or bool(item.get("signature")),
        source_type="reasoning",
        raw=item,
    )


def _ran_by_provider(item: dict[str, Any]) -> Iterator[Part]:
    """Call and result of a tool that the provider ran are one piece."""
    name, id = string(item.get("name")), string(item.get("id"))
    text = item["arguments"] if isinstance(item.get("arguments"), str) else "{}"
    yield Part(PartKind.TOOL_CALL, text, name, id, server=True, source_type="tool_use", raw=item)
    yield Part(
        PartKind.TOOL_RESULT,
        string(item.get("result")) or string(item.get("error")) or "",
        name,
        id,
        server=True,
        is_error=bool(item.get("error")),
        source_type="tool_use",
        raw=item,
    )
