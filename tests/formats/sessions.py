"""Small Claude Code sessions, line by line."""

from __future__ import annotations

from typing import Any

Line = dict[str, Any]


def stamp(second: float) -> str:
    """A time, ``second`` seconds into a session."""
    return f"2026-01-01T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def entry(type: str, uuid: str | None, parent: str | None, at: float = 0, **more: Any) -> Line:
    """A line of any type."""
    return {
        "type": type,
        "uuid": uuid,
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": "s",
        "timestamp": stamp(at),
        **more,
    }


def user(uuid: str, parent: str | None, content: Any, at: float = 0, **more: Any) -> Line:
    """What a person, or the harness, says."""
    message = {"role": "user", "content": content}
    return entry("user", uuid, parent, at, message=message, **more)


def assistant(
    uuid: str,
    parent: str | None,
    id: str,
    *blocks: Any,
    at: float = 0,
    output: int = 1,
    **more: Any,
) -> Line:
    """One line of response ``id``."""
    usage = {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": output}
    message = {
        "role": "assistant",
        "id": id,
        "model": "claude-opus-4-5",
        "content": list(blocks),
        "usage": usage,
    }
    return entry("assistant", uuid, parent, at, message=message, requestId=f"r-{id}", **more)


def text(words: str) -> Line:
    """A text block."""
    return {"type": "text", "text": words}


def call(id: str) -> Line:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}}


def result(id: str, words: str = "done") -> Line:
    """A tool result."""
    return {"type": "tool_result", "tool_use_id": id, "content": words}


def attachment(uuid: str, parent: str, **data: Any) -> Line:
    """Something that the harness puts in."""
    return entry("attachment", uuid, parent, attachment=data)


def boundary(uuid: str, before: str, **metadata: Any) -> Line:
    """The line that a compaction leaves."""
    return entry(
        "system",
        uuid,
        None,
        subtype="compact_boundary",
        logicalParentUuid=before,
        compactMetadata={"trigger": "auto", "preTokens": 9000, **metadata},
    )
