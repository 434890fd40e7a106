"""Requests and responses in a document, however they are wrapped.

One request body, a list of messages, a message a line, a response alone, and records that hold a
request and its response are all the same to the formats: a ``Call``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def _has_role(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_completion_or_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("choices"), list):
        return True
    return value.get("type") == "message" and isinstance(value.get("content"), list)


@dataclass(frozen=True, slots=True)
class Shape:
    """What requests and responses of an API look like.

    Attributes:
        lists: members of a request body that may be its message list.
        is_message: whether a value is an element of that list.
        is_response: whether a value is a response.
        texts: the message list may be a single text.
    """

    lists: tuple[str, ...] = ("messages",)
    is_message: Callable[[Any], bool] = _has_role
    is_response: Callable[[Any], bool] = _is_completion_or_message
    texts: bool = False

    def list_key(self, value: Any) -> str | None:
        """The member of ``value`` that is its message list, or None."""
        if not isinstance(value, dict):
            return None
        for key in self.lists:
            found = value.get(key)
            if isinstance(found, list) or (self.texts and isinstance(found, str)):
                return key
        return None


MESSAGES = Shape()
"""The shape of OpenAI Chat and Anthropic Messages."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, its response, or both.

    Attributes:
        record: the value of the document it stands in.
        body: path from the record to the request body; None for a bare list or response.
        response: path from the record to the response, or None.
        messages: the message list, as parsed; empty for a response alone.
        list_key: the member of the body that is the message list.
        lines: the records that are a message each, where the file has a message a line.
        url: address the request went to, where a log says it.
    """

    record: Node
    body: Keys | None = None
    response: Keys | None = None
    messages: tuple[Any, ...] | list[Any] = ()
    lines: tuple[Node, ...] = ()
    url: str = ""
    list_key: str = "messages"

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


def calls_of(document: Document, shape: Shape = MESSAGES) -> list[Call]:
    """Every call in ``document``, in order."""
    if _is_message_a_line(document, shape):
        lines = document.records
        return [Call(lines[0], messages=[line.value for line in lines], lines=lines)]
    return [call for record in document.records for call in _calls_in(document.text, record, shape)]


def node_at(text: str, record: Node, path: Keys) -> Node | None:
    """The value at ``path`` in ``record``, with its place."""
    node: Node | None = record
    for key in path:
        node = member(text, node, key)
    return node


def _calls_in(text: str, record: Node, shape: Shape) -> Iterator[Call]:
    value = record.value
    if isinstance(value, dict):
        call = _call_in(record, shape)
        if call is not None:
            yield call
    elif any(shape.is_message(item) for item in value):
        yield Call(record, messages=value)
    else:
        for item in elements(text, record):
            if isinstance(item.value, dict):
                item.line = record.line
                call = _call_in(item, shape)
                if call is not None:
                    yield call


def _call_in(record: Node, shape: Shape) -> Call | None:
    value = record.value
    for body, response in _WRAPPINGS:
        if body[0] not in value and response[0] not in value:
            continue
        request = _at(value, body)
        reply = _at(value, response)
        found = response if shape.is_response(reply) or _is_error(reply) else None
        key = shape.list_key(request)
        if request is not None and key is not None:
            url = (_at(value, ("request",)) or value).get("url")
            url = url if isinstance(url, str) else ""
            return Call(record, body, found, _as_list(request[key]), url=url, list_key=key)
        if request is None and shape.is_response(reply):
            return Call(record, None, response)
    key = shape.list_key(value)
    if key is not None:
        found = () if shape.is_response(value) else None
        return Call(record, (), found, _as_list(value[key]), list_key=key)
    return Call(record, None, ()) if shape.is_response(value) else None


def _as_list(value: list[Any] | str) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _at(value: Any, path: Keys) -> dict[str, Any] | None:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _is_error(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("error"))


def _is_message_a_line(document: Document, shape: Shape) -> bool:
    return all(
        shape.is_message(record.value)
        and not shape.is_response(record.value)
        and shape.list_key(record.value) is None
        for record in document.records
    )
