"""Parts of Gemini contents, in both spellings. See formats.md section 6.

https://ai.google.dev/api/caching#Part
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stm_inspector.conversation.model import Media, Part, PartKind
from stm_inspector.formats import media
from stm_inspector.formats.parts import (
    AT_PROVIDER,
    ENCRYPTED,
    ONLY_ADDRESS,
    as_text,
    opaque,
    string,
)
from stm_inspector.formats.rewrite import Changes, Path, dumps

Item = dict[str, Any]
Piece = tuple[Path, Part]

_SNAKE = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "tool_call": "toolCall",
    "tool_response": "toolResponse",
}
_ONLY_TEXT = ("output", "result", "error", "content", "return_value")
"""Members of a response that, standing alone, are the result itself."""


def pieces(content: Item | list[Any]) -> list[Piece]:
    """The parts of a content and where in it they stand. A bare list of parts is a content."""
    if isinstance(content, list):
        return [((at,), part_of(part)) for at, part in enumerate(content)]
    parts = content.get("parts")
    if isinstance(parts, list):
        return [(("parts", at), part_of(part)) for at, part in enumerate(parts)]
    return [] if parts is None else [(("parts",), part_of(parts))]


def part_of(value: Any) -> Part:
    """The part that an element of ``parts`` is."""
    if isinstance(value, str):
        return Part(PartKind.TEXT, value, source_type="text", raw=value)
    if not isinstance(value, dict):
        return opaque(value)
    for key, inner in value.items():
        reader = _READERS.get(_camel(key))
        if reader is not None and inner is not None:
            return reader(value, inner)
    if isinstance(value.get("text"), str):
        return _text(value, value["text"])
    return opaque(value)


def _camel(key: str) -> str:
    return _SNAKE.get(key, key)


def is_part(value: Any) -> bool:
    """Whether ``value`` is a part of this API and of no other: keyed, without a type."""
    return (
        isinstance(value, dict)
        and "type" not in value
        and any(key == "text" or _camel(key) in _READERS for key in value)
    )


def result_changes(value: Item, path: Path, text: str) -> Changes:
    """The changes that make ``text`` what the response at ``path`` says."""
    for key in value:
        name = _camel(key)
        if name in ("functionResponse", "toolResponse"):
            said = _only_text(value[key].get("response"))
            return {(*path, key, "response"): dumps({said[0] if said else "output": text})}
        if name == "codeExecutionResult":
            return {(*path, key, "output"): dumps(text)}
    return {}


def definitions(tools: Any) -> list[Piece]:
    """A part for each function, and for each tool that the provider runs."""
    found: list[Piece] = []
    for at, tool in enumerate(tools if isinstance(tools, list) else [tools]):
        path: Path = (at,) if isinstance(tools, list) else ()
        key = next((key for key in _DECLARED if isinstance(tool, dict) and key in tool), None)
        if key is None or not isinstance(tool[key], list):
            found.append((path, _provided(tool)))
            continue
        found += [
            ((*path, key, number), _definition(declared))
            for number, declared in enumerate(tool[key])
        ]
    return found


_DECLARED = ("functionDeclarations", "function_declarations")


def _definition(declared: Any) -> Part:
    if not isinstance(declared, dict):
        return opaque(declared)
    return Part(
        PartKind.TOOL_DEFINITION,
        dumps(declared),
        name=string(declared.get("name")),
        source_type="functionDeclaration",
        raw=declared,
    )


def _provided(tool: Any) -> Part:
    if not isinstance(tool, dict) or not tool:
        return opaque(tool)
    kind = str(next(iter(tool)))
    return Part(
        PartKind.TOOL_DEFINITION, dumps(tool), name=kind, server=True, source_type=kind, raw=tool
    )


def _signed(value: Item) -> bool:
    return bool(value.get("thoughtSignature") or value.get("thought_signature"))


def _text(value: Item, text: str) -> Part:
    if value.get("thought") is True:
        return Part(
            PartKind.THINKING, text, signed=_signed(value), source_type="thought", raw=value
        )
    if not text and _signed(value):
        return Part(
            PartKind.THINKING, hidden=ENCRYPTED, signed=True, source_type="signature", raw=value
        )
    return Part(PartKind.TEXT, text, source_type="text", raw=value)


def _call(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    return Part(
        PartKind.TOOL_CALL,
        as_text(inner.get("args") if inner.get("args") is not None else {}),
        name=string(inner.get("name")),
        call_id=string(inner.get("id")),
        source_type="functionCall",
        raw=value,
    )


def _response(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    return _result(value, inner, string(inner.get("name")), "functionResponse", server=False)


def _result(value: Item, inner: Item, name: str | None, kind: str, *, server: bool) -> Part:
    response = inner.get("response")
    said = _only_text(response)
    text = said[1] if said else "" if response is None else as_text(response)
    parts = inner.get("parts")
    return Part(
        PartKind.TOOL_RESULT,
        text,
        name=name,
        call_id=string(inner.get("id")),
        parts=tuple(part_of(part) for part in parts) if isinstance(parts, list) else (),
        server=server,
        is_error=bool(said) and said is not None and said[0] == "error",
        source_type=kind,
        raw=value,
    )


def _only_text(response: Any) -> tuple[str, str] | None:
    """Key and text of a response that holds a text and nothing else."""
    if isinstance(response, dict) and len(response) == 1:
        (key, text), *_ = response.items()
        if key in _ONLY_TEXT and isinstance(text, str):
            return key, text
    return None


def _server_call(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    return Part(
        PartKind.TOOL_CALL,
        as_text(inner.get("args") if inner.get("args") is not None else {}),
        name=_server_name(inner),
        call_id=string(inner.get("id")),
        server=True,
        source_type="toolCall",
        raw=value,
    )


def _server_response(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    return _result(value, inner, _server_name(inner), "toolResponse", server=True)


def _server_name(inner: Item) -> str | None:
    return string(inner.get("toolType")) or string(inner.get("tool_type"))


def _code(value: Item, inner: Any) -> Part:
    text = string(inner.get("code")) if isinstance(inner, dict) else None
    return Part(
        PartKind.TOOL_CALL,
        as_text(inner) if text is None else text,
        name="code_execution",
        call_id=string(inner.get("id")) if isinstance(inner, dict) else None,
        server=True,
        source_type="executableCode",
        raw=value,
    )


def _code_result(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    outcome = string(inner.get("outcome")) or ""
    return Part(
        PartKind.TOOL_RESULT,
        string(inner.get("output")) or "",
        name="code_execution",
        call_id=string(inner.get("id")),
        server=True,
        is_error=outcome not in ("", "OUTCOME_OK"),
        source_type="codeExecutionResult",
        raw=value,
    )


def _inline(value: Item, inner: Any) -> Part:
    data = inner.get("data") if isinstance(inner, dict) else None
    if not isinstance(data, str):
        return opaque(value)
    kind = string(inner.get("mimeType")) or string(inner.get("mime_type"))
    return _media(value, media.from_base64(data, kind), None, "inlineData")


def _file(value: Item, inner: Any) -> Part:
    if not isinstance(inner, dict):
        return opaque(value)
    url = string(inner.get("fileUri")) or string(inner.get("file_uri"))
    kind = string(inner.get("mimeType")) or string(inner.get("mime_type"))
    own = url is None or "generativelanguage.googleapis.com" in url
    hidden = AT_PROVIDER if own else ONLY_ADDRESS
    return _media(value, Media(kind, url=url), hidden, "fileData")


def _media(value: Item, found: Media, hidden: str | None, kind: str) -> Part:
    major = (found.media_type or "").partition("/")[0]
    if major in ("audio", "video"):
        return opaque(value, media=found, hidden=hidden)
    name = string(value.get("displayName")) or string(value.get("display_name"))
    return Part(
        PartKind.IMAGE if major == "image" else PartKind.DOCUMENT,
        name=name,
        media=found,
        hidden=hidden,
        source_type=kind,
        raw=value,
    )


_READERS: dict[str, Callable[[Item, Any], Part]] = {
    "functionCall": _call,
    "functionResponse": _response,
    "inlineData": _inline,
    "fileData": _file,
    "executableCode": _code,
    "codeExecutionResult": _code_result,
    "toolCall": _server_call,
    "toolResponse": _server_response,
}
