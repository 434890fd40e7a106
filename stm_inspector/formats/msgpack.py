"""MessagePack with Python objects in it, as LangGraph writes them, as plain data.

An extension type names a module, a class and its arguments. Nothing is ever imported by such a
name: what stands there stays data. Codes: ``langgraph.checkpoint.serde.jsonplus``,
https://github.com/langchain-ai/langgraph/tree/main/libs/checkpoint
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

from msgspec import MsgspecError, msgpack

_PYDANTIC = (4, 5)
"""Extension codes of models: module, class, members, name of the method that makes one."""


def unpacked(data: bytes) -> Any:
    """The value in ``data`` as JSON has it: dicts with texts as keys, lists, texts and numbers.

    A model becomes its members, any other object ``{"class": name, "value": arguments}``, bytes
    ``{"base64": text}``.

    Raises:
        ValueError: ``data`` is no MessagePack.
    """
    try:
        return _plain(_decoder.decode(data))
    except (MsgspecError, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    return value.isoformat() if isinstance(value, datetime) else value


def _object(code: int, data: memoryview) -> Any:
    """What stands for an object: built of what ``data`` holds, and of nothing else."""
    inside = bytes(data)
    try:
        told = _decoder.decode(inside)
    except (MsgspecError, TypeError):
        return {"extension": code, "value": inside}
    if not isinstance(told, list) or len(told) < 3:
        return {"extension": code, "value": told}
    if code in _PYDANTIC and isinstance(told[2], dict):
        return told[2]
    return {"class": f"{told[0]}.{told[1]}", "value": told[2]}


_decoder = msgpack.Decoder(ext_hook=_object)
