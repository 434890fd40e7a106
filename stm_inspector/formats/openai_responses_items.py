"""Items of the OpenAI Responses API. See formats.md section 2.

Item types and their members: https://platform.openai.com/docs/api-reference/responses/object
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Part, PartKind, Role
from stm_inspector.formats import media, openai_parts
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

Item = dict[str, Any]
Piece = tuple[Path, Part]

NOT_HERE = "not in the file"
_SECRETS = ("headers", "authorization")


def pieces(item: Item) -> list[Piece]:
    """The parts of an item and where in it they stand."""
    kind = item.get("type")
    if kind is None or kind == "message":
        return _message(item)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return reader(item) if reader is not None else [((), opaque(item))]


def role_of(item: Item) -> Role | None:
    """Who speaks in an item that names no role."""
    kind = item.get("type")
    return _ROLES.get(kind) if isinstance(kind, str) else None


def is_item(value: Any) -> bool:
    """Whether the type of ``value`` is one that no other API has."""
    return (
        isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] in _ROLES
    )


def definitions(tools: Any, path: Path = ()) -> list[Piece]:
    """Tool definitions; credentials for MCP servers are not shown."""
    if not isinstance(tools, list):
        return [(path, opaque(tools))]
    return [((*path, at), definition(tool)) for at, tool in enumerate(tools)]


def definition(tool: Any) -> Part:
    """A tool that the model may call, or one that the provider runs."""
    if not isinstance(tool, dict):
        return opaque(tool)
    shown = {key: value for key, value in tool.items() if key not in _SECRETS}
    part = openai_parts.definition(shown)
    client = part.source_type in ("function", "custom", "namespace")
    name = part.name or string(tool.get("server_label")) or part.source_type
    return structs.replace(part, name=name, server=not client)


def result_changes(item: Item, path: Path, text: str) -> Changes:
    """The changes that make ``text`` the result in ``item``."""
    if path == ("outputs",):
        return {path: dumps([{"type": "logs", "logs": text}])}
    if path == ("results",):
        return {path: dumps([{"text": text}])}
    if path == ("action",):
        return {}  # What a web search found is not in the item.
    if path in (("tools",), ("result",)):
        # A list of definitions, or a picture: no text can stand there.
        return {path: "[]" if path == ("tools",) else "null"}
    return {path: dumps(text)}


def content_part(value: Any) -> Part:
    """A part of a message's content or of a result."""
    if not isinstance(value, dict):
        return openai_parts.content_part(value)
    kind = string(value.get("type")) or ""
    if kind in _TEXTS and isinstance(value.get("text"), str):
        return Part(PartKind.TEXT, value["text"], source_type=kind, raw=value)
    if kind in ("input_image", "computer_screenshot"):
        return _image(value, kind)
    if kind == "input_file":
        return _file(value)
    return openai_parts.content_part(value)


_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")


def _image(value: Item, kind: str) -> Part:
    url = string(value.get("image_url"))
    found = media.from_url(url, string(value.get("detail"))) if url else None
    hidden = AT_PROVIDER if found is None else ONLY_ADDRESS if found.url else None
    return Part(PartKind.IMAGE, media=found, hidden=hidden, source_type=kind, raw=value)


def _file(value: Item) -> Part:
    data = string(value.get("file_data")) or string(value.get("file_url"))
    found = media.from_url(data) if data else None
    hidden = AT_PROVIDER if found is None else ONLY_ADDRESS if found.url else None
    name = string(value.get("filename")) or string(value.get("file_id"))
    return Part(
        PartKind.DOCUMENT,
        name=name,
        media=found,
        hidden=hidden,
        source_type="input_file",
        raw=value,
    )


def _message(item: Item) -> list[Piece]:
    content = item.get("content")
    if isinstance(content, str):
        part = Part(PartKind.TEXT, content, source_type="text", raw=content)
        return [(("content",), part)] if content else []
    if isinstance(content, list):
        return [(("content", at), content_part(value)) for at, value in enumerate(content)]
    return [] if content is None else [(("content",), opaque(content))]


def _reasoning(item: Item) -> list[Piece]:
    """The reasoning itself where it is given; else its summary, which is not what the model
    reads again."""
    whole = _joined(item.get("content"))
    text = whole or _joined(item.get("summary"))
    encrypted = bool(item.get("encrypted_content"))
    hidden = None if whole else ENCRYPTED if encrypted else AT_PROVIDER if item.get("id") else None
    part = Part(
        PartKind.THINKING, text, hidden=hidden, signed=encrypted, source_type="reasoning", raw=item
    )
    return [((), part)]


def _joined(steps: Any) -> str:
    if not isinstance(steps, list):
        return ""
    texts = (string(step.get("text")) for step in steps if isinstance(step, dict))
    return "\n\n".join(text for text in texts if text)


def _call(key: str, name: str | None = None) -> Callable[[Item], list[Piece]]:
    """A reader of calls whose arguments stand in member ``key``."""

    def read(item: Item) -> list[Piece]:
        return [((), _call_part(item, as_text(item.get(key, "")), name))]

    return read


def _call_part(item: Item, text: str, name: str | None, *, server: bool = False) -> Part:
    kind = str(item["type"])
    call_id = string(item.get("call_id"))
    if call_id is None and server and kind != "tool_search_call":
        call_id = string(item.get("id"))
    return Part(
        PartKind.TOOL_CALL,
        text,
        name=string(item.get("name")) or name,
        call_id=call_id,
        server=server,
        source_type=kind,
        raw=item,
    )


def _output(item: Item) -> list[Piece]:
    output = item.get("output")
    text, inside = "", tuple[Part, ...]()
    if isinstance(output, list):
        text, inside = first_and_rest([content_part(value) for value in output])
    elif isinstance(output, dict) and output.get("type") == "computer_screenshot":
        inside = (content_part(output),)
    elif output is not None:
        text = as_text(output)
    call_id = string(item.get("call_id"))
    if call_id is None and item["type"] == "local_shell_call_output":
        call_id = string(item.get("id"))
    return [(("output",), _result(item, text, inside, call_id=call_id))]


def _result(
    item: Item,
    text: str,
    inside: Iterable[Part] = (),
    *,
    call_id: str | None,
    server: bool = False,
    hidden: str | None = None,
    failed: bool = False,
) -> Part:
    return Part(
        PartKind.TOOL_RESULT,
        text,
        name=string(item.get("name")),
        call_id=call_id,
        parts=tuple(inside),
        server=server,
        is_error=failed,
        hidden=hidden,
        source_type=str(item["type"]),
        raw=item,
    )


def _tool_search(item: Item) -> list[Piece]:
    server = item.get("execution") != "client"
    text = as_text(item.get("arguments", ""))
    return [((), _call_part(item, text, "tool_search", server=server))]


def _tools_found(item: Item) -> list[Piece]:
    found = (part for _, part in definitions(item.get("tools") or []))
    server = item.get("execution") != "client"
    part = _result(item, "", found, call_id=string(item.get("call_id")), server=server)
    return [(("tools",), structs.replace(part, name="tool_search"))]


def _tool_list(item: Item) -> list[Piece]:
    return definitions(item.get("tools") or [], ("tools",))


def _mcp(item: Item) -> list[Piece]:
    call = _call_part(item, as_text(item.get("arguments", "")), None, server=True)
    error, output = item.get("error"), item.get("output")
    text = as_text(output if output is not None else error or "")
    hidden = NOT_HERE if output is None and not error else None
    result = _result(
        item, text, call_id=call.call_id, server=True, hidden=hidden, failed=bool(error)
    )
    return [((), call), (("output",), result)]


def _web_search(item: Item) -> list[Piece]:
    call = _call_part(item, as_text(item.get("action", "")), "web_search", server=True)
    result = _result(item, "", call_id=call.call_id, server=True, hidden=AT_PROVIDER)
    return [((), call), (("action",), result)]


def _file_search(item: Item) -> list[Piece]:
    call = _call_part(item, as_text(item.get("queries", "")), "file_search", server=True)
    found = item.get("results")
    texts = [_found_text(value) for value in found] if isinstance(found, list) else []
    hidden = None if isinstance(found, list) else AT_PROVIDER
    text = "\n\n".join(texts)
    return [
        ((), call),
        (("results",), _result(item, text, call_id=call.call_id, server=True, hidden=hidden)),
    ]


def _found_text(value: Any) -> str:
    text = string(value.get("text")) if isinstance(value, dict) else None
    return as_text(value) if text is None else text


def _code(item: Item) -> list[Piece]:
    call = _call_part(item, as_text(item.get("code") or ""), "code_interpreter", server=True)
    outputs = item.get("outputs")
    texts: list[str] = []
    inside: list[Part] = []
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict) and isinstance(output.get("logs"), str):
            texts.append(output["logs"])
        elif isinstance(output, dict) and isinstance(output.get("url"), str):
            inside.append(_image({**output, "image_url": output["url"]}, "image"))
        else:
            inside.append(opaque(output))
    hidden = None if isinstance(outputs, list) else AT_PROVIDER
    result = _result(
        item, "\n".join(texts), inside, call_id=call.call_id, server=True, hidden=hidden
    )
    return [((), call), (("outputs",), result)]


def _picture(item: Item) -> list[Piece]:
    prompt = as_text(item.get("revised_prompt") or "")
    call = _call_part(item, prompt, "image_generation", server=True)
    data = string(item.get("result"))
    inside = []
    if data:
        found = media.from_base64(data, f"image/{item.get('output_format') or 'png'}")
        inside = [Part(PartKind.IMAGE, media=found, source_type="image", raw=item)]
    hidden = None if data else NOT_HERE
    result = _result(item, "", inside, call_id=call.call_id, server=True, hidden=hidden)
    return [((), call), (("result",), result)]


def _compaction(item: Item) -> list[Piece]:
    part = Part(
        PartKind.COMPACTION,
        hidden=ENCRYPTED if item.get("encrypted_content") else AT_PROVIDER,
        source_type=str(item["type"]),
        raw=item,
    )
    return [((), part)]


def _reference(item: Item) -> list[Piece]:
    return [((), opaque(item, hidden=AT_PROVIDER))]


_READERS: dict[str, Callable[[Item], list[Piece]]] = {
    "reasoning": _reasoning,
    "function_call": _call("arguments"),
    "custom_tool_call": _call("input"),
    "local_shell_call": _call("action", "local_shell"),
    "shell_call": _call("action", "shell"),
    "apply_patch_call": _call("operation", "apply_patch"),
    "computer_call": _call("action", "computer"),
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "local_shell_call_output": _output,
    "shell_call_output": _output,
    "apply_patch_call_output": _output,
    "computer_call_output": _output,
    "tool_search_call": _tool_search,
    "tool_search_output": _tools_found,
    "mcp_list_tools": _tool_list,
    "additional_tools": _tool_list,
    "mcp_call": _mcp,
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code,
    "image_generation_call": _picture,
    "compaction": _compaction,
    "compaction_summary": _compaction,
    "context_compaction": _compaction,
    "item_reference": _reference,
}

_ROLES: dict[str, Role] = {
    **{
        kind: Role.TOOL if kind.endswith("_output") else Role.ASSISTANT
        for kind in (*_READERS, "mcp_approval_request")
    },
    "mcp_list_tools": Role.SYSTEM,
    "additional_tools": Role.DEVELOPER,
    "mcp_approval_response": Role.USER,
}
