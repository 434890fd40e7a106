"""Tool definitions, whatever API they were written for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stm_inspector.conversation.model import Part, PartKind
from stm_inspector.formats.compose.entries import Entry, Piece
from stm_inspector.formats.compose.losses import Losses
from stm_inspector.formats.compose.target import Rules, Tool
from stm_inspector.formats.compose.text import Verbatim, as_object, parsed

_SCHEMAS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "parametersJson",
)
_WRAPPERS = ("function", "custom", "toolSpec", "tool_spec")
CUSTOM = ("custom", "custom_tool_call")
"""Source types of a call that carries any text instead of arguments."""

FREE_TEXT = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Schema of a tool that takes any text, for an API whose tools take an object."""


def taken_out(
    entries: Sequence[Entry], rules: Rules, losses: Losses
) -> tuple[list[Tool], list[Entry]]:
    """The tools that are defined anywhere, and the messages without their definitions."""
    tools: dict[str, Tool] = {}
    for tool in _defined(entries, losses):
        name = rules.tool_names.fitted(tool.name)
        tools.setdefault(name, replace(tool, name=name))
    rest = []
    for entry in entries:
        if entry.has(PartKind.TOOL_DEFINITION):
            pieces = tuple(
                piece for piece in entry.pieces if piece.part.kind is not PartKind.TOOL_DEFINITION
            )
            if pieces:
                rest.append(replace(entry, pieces=pieces))
        elif entry.field != "tools":
            rest.append(entry)
    return list(tools.values()), rest


def _defined(entries: Sequence[Entry], losses: Losses) -> Iterator[Tool]:
    for entry in entries:
        for piece in entry.pieces:
            if piece.part.kind is not PartKind.TOOL_DEFINITION:
                continue
            tool = None if piece.part.server else _tool(piece)
            if tool is None:
                losses.add("definition", "of a tool that the provider runs: left out", piece.index)
            else:
                yield tool


def _tool(piece: Piece) -> Tool | None:
    try:
        value = parsed(piece.part.text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    inner = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), dict)), value)
    name = inner.get("name") or piece.part.name
    if not isinstance(name, str) or not name:
        return None
    free = inner.get("format", {"type": "text"}) if value.get("type") == "custom" else None
    schema = next((inner[key] for key in _SCHEMAS if isinstance(inner.get(key), dict)), None)
    if schema is not None and isinstance(schema.get("json"), dict) and "type" not in schema:
        schema = schema["json"]
    if schema is None and free is None:
        if value.get("type", "function") != "function" or len(inner) < 2:
            return None
        schema = {"type": "object", "properties": {}}
    if schema is not None:
        free = None
    description = inner.get("description")
    return Tool(
        name,
        description if isinstance(description, str) else "",
        schema,
        piece.index,
        free,
        piece.part.cache_marker,
    )


def arguments(part: Part) -> Verbatim | dict[str, str]:
    """The arguments of a call for an API that takes an object; fits ``schema_of``."""
    return {"input": part.text} if part.source_type in CUSTOM else as_object(part.text)


def schema_of(tool: Tool) -> Any:
    """The JSON schema of what ``tool`` takes, for an API whose tools take an object."""
    return FREE_TEXT if tool.schema is None else tool.schema
