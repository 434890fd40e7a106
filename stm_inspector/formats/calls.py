"""Requests and responses in a document, however they are wrapped.

One request body, a list of messages, a message a line, a response alone, and records that hold a
request and its response are all the same to the formats: a ``Call``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stm_inspector.formats.document import Document
from stm_inspector.formats.values import Node, elements, member

Keys = tuple[str, ...]

_WRAPPINGS: tuple[tuple[Keys, Keys], ...] = (
    (("request", "body"), ("response", "body")),
    (("request",), ("response",)),
    (("body",), ("response", "body")),
    (("params",), ("result", "message")),
)
"""Where a record keeps its request and its response: proxy logs, then batch files."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, its response, or both.

    Attributes:
        record: the value of the document it stands in.
        body: path from the record to the request body; None for a bare list or response.
        response: path from the record to the response, or None.
        messages: the message list, as parsed; empty for a response alone.
        lines: the records that are a message each, where the file has a message a line.
        url: address the request went to, where a log says it.
    """

    record: Node
    body: Keys | None = None
    response: Keys | None = None
    messages: tuple[Any, ...] | list[Any] = ()
    lines: tuple[Node, ...] = ()
    url: str = ""

    @property
    def wrapped(self) -> bool:
        """It stands in a log, beside things that are not for the model."""
        return bool(self.body)

    @property
    def body_value(self) -> dict[str, Any]:
        """The request body as parsed; empty where there is none."""
        return _at(self.record.value, self.body) or {} if self.body is not None else {}

    @property
    def response_value(self) -> dict[str, Any]:
        """The response as parsed; empty where there is none."""
        return _at(self.record.value, self.response) or {} if self.response is not None else {}


def calls_of(document: Document) -> list[Call]:
    """Every call in ``document``, in order."""
    if _is_message_a_line(document):
        lines = document.records
        return [Call(lines[0], messages=[line.value for line in lines], lines=lines)]
    return [call for record in document.records for call in _calls_in(document.text, record)]


def node_at(text: str, record: Node, path: Keys) -> Node | None:
    """The value at ``path`` in ``record``, with its place."""
    node: Node | None = record
    for key in path:
        node = member(text, node, key)
    return node


def _calls_in(text: str, record: Node) -> Iterator[Call]:
    value = record.value
    if isinstance(value, dict):
        call = _call_in(record)
        if call is not None:
            yield call
    elif any(isinstance(item, dict) and "role" in item for item in value):
        yield Call(record, messages=value)
    else:
        for item in elements(text, record):
            if isinstance(item.value, dict):
                item.line = record.line
                call = _call_in(item)
                if call is not None:
                    yield call


def _call_in(record: Node) -> Call | None:
    value = record.value
    for body, response in _WRAPPINGS:
        if body[0] not in value and response[0] not in value:
            continue
        request = _at(value, body)
        reply = _at(value, response)
        found = response if _is_response(reply) or _is_error(reply) else None
        if request is not None and _has_messages(request):
            url = (_at(value, ("request",)) or value).get("url")
            url = url if isinstance(url, str) else ""
            return Call(record, body, found, request["messages"], url=url)
        if request is None and _is_response(reply):
            return Call(record, None, response)
    if _has_messages(value):
        return Call(record, (), () if _is_response(value) else None, value["messages"])
    return Call(record, None, ()) if _is_response(value) else None


def _at(value: Any, path: Keys) -> dict[str, Any] | None:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _has_messages(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _is_response(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("choices"), list):
        return True
    return value.get("type") == "message" and isinstance(value.get("content"), list)


def _is_error(value: Any) -> bool:
    return isinstance(value, dict) and "error" in value


def _is_message_a_line(document: Document) -> bool:
    return all(
        isinstance(record.value, dict)
        and isinstance(record.value.get("role"), str)
        and record.value.get("type") != "message"
        and "messages" not in record.value
        for record in document.records
    )
