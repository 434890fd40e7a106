"""Content blocks of the Anthropic Messages API. See formats.md section 3.

Block types and their members: the Messages API reference,
https://docs.claude.com/en/api/messages (and its beta headers for compaction and MCP).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stm_inspector.conversation.model import Media, Part, PartKind, Usage
from stm_inspector.formats import media
from stm_inspector.formats.parts import (
    AT_PROVIDER,
    ENCRYPTED,
    ONLY_ADDRESS,
    as_text,
    first_and_rest,
    opaque,
    string,
)
from stm_inspector.formats.rewrite import Changes, Path, dumps

Block = dict[str, Any]

ONLY_HERE = frozenset(
    (
        "tool_use",
        "tool_result",
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "redacted_thinking",
        "container_upload",
        "compaction",
        "search_result",
        "tool_addition",
    )
)
"""Block types that no other API has. Beside these: every ``…_tool_result``."""


def content_pieces(content: Any) -> list[tuple[Path, Part]]:
    """The parts of a message's ``content`` and where in the message they stand."""
    if isinstance(content, str):
        if not content:
            return []
        return [(("content",), Part(PartKind.TEXT, content, source_type="text", raw=content))]
    if isinstance(content, list):
        return [(("content", at), part_of(block)) for at, block in enumerate(content)]
    return [] if content is None else [(("content",), opaque(content))]


def part_of(block: Any) -> Part:
    """The part that a content block is."""
    if isinstance(block, str):
        return Part(PartKind.TEXT, block, source_type="text", raw=block)
    if not isinstance(block, dict):
        return opaque(block)
    kind = block.get("type")
    if not isinstance(kind, str):
        return opaque(block)
    reader = _READERS.get(kind)
    if reader is None and kind.endswith("_tool_result"):
        reader = _server_result
    return reader(block) if reader is not None else opaque(block)


def is_result(block: Any) -> bool:
    """A tool result that the client sends (the provider's own stand beside their calls)."""
    return isinstance(block, dict) and block.get("type") == "tool_result"


def result_changes(path: Path, text: str) -> Changes:
    """The changes that make ``text`` the content of the result block at ``path``."""
    return {(*path, "content"): dumps(text)}


def usage_of(usage: Any) -> Usage | None:
    """``input_tokens`` leaves cached tokens out at this API; ours takes them in."""
    if not isinstance(usage, dict):
        return None
    fresh = _number(usage.get("input_tokens"))
    read = _number(usage.get("cache_read_input_tokens"))
    written = _number(usage.get("cache_creation_input_tokens"))
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(total, _number(usage.get("output_tokens")), read, written)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(block: Block) -> Part:
    text = block.get("text")
    if not isinstance(text, str):
        return opaque(block)
    marked = "cache_control" in block
    return Part(PartKind.TEXT, text, cache_marker=marked, source_type="text", raw=block)


def _thinking(block: Block) -> Part:
    text = string(block.get("thinking")) or ""
    signed = bool(block.get("signature"))
    return Part(
        PartKind.THINKING,
        text,
        hidden=ENCRYPTED if signed and not text else None,
        signed=signed,
        source_type="thinking",
        raw=block,
    )


def _redacted(block: Block) -> Part:
    return Part(
        PartKind.THINKING,
        hidden=ENCRYPTED,
        signed=True,
        source_type="redacted_thinking",
        raw=block,
    )


def _tool_use(block: Block) -> Part:
    kind = str(block["type"])
    return Part(
        PartKind.TOOL_CALL,
        as_text(block.get("input", {})),
        name=string(block.get("name")),
        call_id=string(block.get("id")),
        server=kind != "tool_use",
        cache_marker="cache_control" in block,
        source_type=kind,
        raw=block,
    )


def _tool_result(block: Block) -> Part:
    content = block.get("content")
    text, inside = "", list[Part]()
    if isinstance(content, list):
        text, rest = first_and_rest([part_of(item) for item in content])
        inside = list(rest)
    elif content is not None:
        text = as_text(content)
    return _result(block, text, inside, server=block["type"] != "tool_result")


def _server_result(block: Block) -> Part:
    """The result of a tool that the provider ran: a list of things found, or one object."""
    content = block.get("content")
    if isinstance(content, list):
        found = [part_of(item) for item in content]
        hidden = next((part.hidden for part in found if part.hidden), None)
        return _result(block, "", found, server=True, hidden=hidden)
    if not isinstance(content, dict):
        return _result(block, "" if content is None else as_text(content), [], server=True)
    inner = content.get("content")
    if isinstance(inner, dict) and inner.get("type") == "document":
        address = string(content.get("url")) or ""
        return _result(block, address, [part_of(inner)], server=True)
    shown = {key: value for key, value in content.items() if not key.startswith("encrypted_")}
    hidden = ENCRYPTED if len(shown) < len(content) else None
    failed = "error" in str(content.get("type", ""))
    return _result(block, dumps(shown), [], server=True, hidden=hidden, failed=failed)


def _result(
    block: Block,
    text: str,
    inside: list[Part],
    *,
    server: bool,
    hidden: str | None = None,
    failed: bool = False,
) -> Part:
    return Part(
        PartKind.TOOL_RESULT,
        text,
        call_id=string(block.get("tool_use_id")),
        parts=tuple(inside),
        server=server,
        is_error=failed or block.get("is_error") is True,
        hidden=hidden,
        cache_marker="cache_control" in block,
        source_type=str(block["type"]),
        raw=block,
    )


def _found_page(block: Block) -> Part:
    """One hit of a web search: title and address can be read, the text is encrypted."""
    words = (string(block.get(key)) for key in ("title", "url", "page_age"))
    return Part(
        PartKind.DOCUMENT,
        "\n".join(word for word in words if word),
        name=string(block.get("title")),
        media=Media(url=string(block.get("url"))),
        hidden=ENCRYPTED if block.get("encrypted_content") else None,
        source_type="web_search_result",
        raw=block,
    )


def _image(block: Block) -> Part:
    found, hidden = _source(block.get("source"))
    return Part(
        PartKind.IMAGE,
        media=found,
        hidden=hidden,
        cache_marker="cache_control" in block,
        source_type="image",
        raw=block,
    )


def _document(block: Block) -> Part:
    source = block.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    text, inside, found, hidden = "", list[Part](), None, None
    if kind == "text" and isinstance(source, dict):
        text = as_text(source.get("data", ""))
    elif kind == "content" and isinstance(source, dict):
        content = source.get("content")
        parts = [part_of(item) for item in content] if isinstance(content, list) else []
        text, rest = first_and_rest(parts) if parts else (as_text(content or ""), ())
        inside = list(rest)
    else:
        found, hidden = _source(source)
    context = string(block.get("context"))
    if context:
        inside.append(Part(PartKind.TEXT, context, source_type="context"))
    return Part(
        PartKind.DOCUMENT,
        text,
        name=string(block.get("title")),
        parts=tuple(inside),
        media=found,
        hidden=hidden,
        cache_marker="cache_control" in block,
        source_type="document",
        raw=block,
    )


def _source(source: Any) -> tuple[Media | None, str | None]:
    """What is known of the data of an image or document, and why it is not in the file."""
    if not isinstance(source, dict):
        return None, "not in the file"
    kind = string(source.get("media_type"))
    data, url = string(source.get("data")), string(source.get("url"))
    if data is not None:
        return media.from_base64(data, kind), None
    if url is not None:
        found = media.from_url(url)
        return found, ONLY_ADDRESS if found.url else None
    return Media(media_type=kind), AT_PROVIDER


def _search_result(block: Block) -> Part:
    content = block.get("content")
    parts = [part_of(item) for item in content] if isinstance(content, list) else []
    text, inside = first_and_rest(parts)
    return Part(
        PartKind.DOCUMENT,
        text,
        name=string(block.get("title")),
        parts=inside,
        media=Media(url=string(block.get("source"))),
        cache_marker="cache_control" in block,
        source_type="search_result",
        raw=block,
    )


def _compaction(block: Block) -> Part:
    content = block.get("content")
    text = string(content) or ""
    return Part(
        PartKind.COMPACTION,
        text,
        hidden=ENCRYPTED if not text and block.get("encrypted_content") else None,
        cache_marker="cache_control" in block,
        source_type="compaction",
        raw=block,
    )


def _container_upload(block: Block) -> Part:
    return Part(
        PartKind.OPAQUE,
        name=string(block.get("file_id")),
        hidden=AT_PROVIDER,
        source_type="container_upload",
        raw=block,
    )


_READERS: dict[str, Callable[[Block], Part]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "mcp_tool_use": _tool_use,
    "tool_result": _tool_result,
    "mcp_tool_result": _tool_result,
    "web_search_result": _found_page,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
    "compaction": _compaction,
    "container_upload": _container_upload,
}
