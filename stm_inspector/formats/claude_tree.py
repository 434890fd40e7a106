"""The tree that the lines of a Claude Code session make, and the way from its leaf to its root.

The rules are those of formats.md section 4, numbered as there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from stm_inspector.formats.values import Node

TALK = frozenset(("user", "assistant"))
"""Types of the lines that hold messages."""

_NEAR = 5.0
"""Seconds; a record whose parent is missing continues the nearest one that is no older."""


@dataclass(slots=True, eq=False)
class Record:
    """One line: its value and place, and how it hangs in the tree (relinks applied).

    Attributes:
        message: the API message of a user or assistant line; empty for other lines.
        response: what the lines of one response have in common (rule 7), or None.
    """

    value: dict[str, Any]
    node: Node
    index: int
    uuid: str | None
    parent: str | None
    type: str
    side: bool
    message: dict[str, Any]
    response: tuple[str, str] | None

    @property
    def time(self) -> float | None:
        """When it was written, in seconds since the epoch."""
        return seconds(self.value.get("timestamp"))

    @property
    def blocks(self) -> list[Any]:
        """The content blocks; empty where the content is a string."""
        content = self.message.get("content")
        return content if isinstance(content, list) else []


def records_of(nodes: Iterable[Node]) -> list[Record]:
    """The lines of a session. Of a uuid that stands twice the last line counts (rule 1)."""
    by_uuid: dict[str, Record] = {}
    found: list[Record] = []
    for index, node in enumerate(nodes):
        value = node.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            continue
        uuid, parent = value.get("uuid"), value.get("parentUuid")
        message = value.get("message")
        message = message if isinstance(message, dict) else {}
        record = Record(
            value,
            node,
            index,
            uuid if isinstance(uuid, str) else None,
            parent if isinstance(parent, str) else None,
            value["type"],
            value.get("isSidechain") is True,
            message,
            _response(value, message) if value["type"] == "assistant" else None,
        )
        found.append(record)
        if record.uuid is not None:
            by_uuid[record.uuid] = record
    return [record for record in found if record.uuid is None or by_uuid[record.uuid] is record]


def _response(value: dict[str, Any], message: dict[str, Any]) -> tuple[str, str] | None:
    id = message.get("id")
    return (id, str(value.get("requestId"))) if isinstance(id, str) and id else None


def seconds(stamp: Any) -> float | None:
    """An ISO 8601 time as seconds since the epoch; None where it is none."""
    if not isinstance(stamp, str):
        return None
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        return None


def relink(records: Sequence[Record], by_uuid: dict[str, Record]) -> list[str]:
    """Rule 2: a compaction may keep a run of messages; it then continues the summary."""
    boundary = next((r for r in reversed(records) if is_boundary(r)), None)
    meta = boundary.value.get("compactMetadata") if boundary else None
    if not isinstance(meta, dict):
        return []
    segment, listed = meta.get("preservedSegment"), meta.get("preservedMessages")
    if isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
        run = listed["uuids"]
        anchor = listed.get("anchorUuid")
    elif isinstance(segment, dict):
        run = [segment.get("headUuid"), segment.get("tailUuid")]
        anchor = segment.get("anchorUuid")
    else:
        return []
    kept = [by_uuid[uuid] for uuid in run if isinstance(uuid, str) and uuid in by_uuid]
    if not kept or len(kept) != len(run) or not isinstance(anchor, str) or anchor not in by_uuid:
        return ["Messages that the last compaction kept are not in this file."]
    for record in records:
        if record.parent == anchor and record.uuid not in run:
            record.parent = kept[-1].uuid
    kept[0].parent = anchor
    if isinstance(listed, dict) and run == listed.get("uuids"):
        for before, after in pairwise(kept):
            after.parent = before.uuid
    return []


def leaf_of(
    records: Sequence[Record], talk: Sequence[Record], by_uuid: dict[str, Record]
) -> Record:
    """Rule 3: where the conversation stands; lines that follow it and are no talk included."""
    named: Record | None = None
    for record in records:
        leaf = record.value.get("leafUuid")
        if record.type == "last-prompt" and isinstance(leaf, str) and leaf in by_uuid:
            # Talk that was written after this line is newer than what it says.
            named = by_uuid[leaf] if talk[-1].index < record.index else None
    tip = named or talk[-1]
    for record in records:
        if (
            record.index > tip.index
            and record.parent == tip.uuid
            and record.type not in TALK
            and not is_boundary(record)
        ):
            tip = record
    return tip


def walk(
    leaf: Record, records: Sequence[Record], by_uuid: dict[str, Record]
) -> tuple[list[Record], list[str]]:
    """Rules 4 and 5: from the leaf to the root, in order, and notes on gaps."""
    path: list[Record] = []
    visited: set[int] = set()
    notes: list[str] = []
    current: Record | None = leaf
    while current is not None:
        if current.index in visited:
            notes.append(
                f"The parents run in a circle at line {current.node.line}: "
                "what came before cannot be told."
            )
            break
        visited.add(current.index)
        path.append(current)
        following = by_uuid.get(current.parent) if current.parent else None
        if current.parent and following is None:
            following = _nearest(current, records, visited)
            if following is None:
                notes.append(
                    f"The parent of line {current.node.line} is not in this file: "
                    "what came before is missing."
                )
        current = following
    path.reverse()
    return path, notes


def _nearest(record: Record, records: Sequence[Record], visited: set[int]) -> Record | None:
    """Rule 5: the nearest record before ``record`` in time, at most 5 s older."""
    now = record.time
    if now is None:
        return None
    near = [
        (then, other.index, other)
        for other in records
        if other.side == record.side
        and other.uuid is not None
        and other.index < record.index
        and other.index not in visited
        and (then := other.time) is not None
        and 0 <= now - then <= _NEAR
    ]
    return max(near)[2] if near else None


def retracted_by(records: Sequence[Record]) -> set[str]:
    """Records that a refusal took back."""
    found: set[str] = set()
    for record in records:
        uuids = record.value.get("retractedMessageUuids")
        if isinstance(uuids, list):
            found.update(uuid for uuid in uuids if isinstance(uuid, str))
    return found


def is_boundary(record: Record) -> bool:
    return record.type == "system" and record.value.get("subtype") == "compact_boundary"


def sides(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The lines of subagents, by the id of the agent or by the line their chain begins with."""
    by_uuid = {record.uuid: record for record in records if record.uuid is not None}
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.side:
            agent = record.value.get("agentId")
            name = agent if isinstance(agent, str) else _root(record, by_uuid)
            found.setdefault(name, []).append(record)
    return {name: side for name, side in found.items() if any(r.type in TALK for r in side)}


def _root(record: Record, by_uuid: dict[str, Record]) -> str:
    visited: set[int] = set()
    while record.index not in visited:
        visited.add(record.index)
        above = by_uuid.get(record.parent) if record.parent else None
        if above is None or not above.side:
            break
        record = above
    return f"from line {record.node.line}"
