"""The context that a Claude Code session file amounts to: which of its lines, in which order.

The file is an append-only log of a tree. The rules are those of formats.md section 4, numbered as
there; the reader of the messages themselves is ``claude_code``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from stm_inspector.formats.parts import counted
from stm_inspector.formats.values import Node

_NEAR = 5.0
"""Seconds; a record whose parent is missing continues the nearest one that is no older."""

_TALK = frozenset(("user", "assistant"))
_CONTEXT = frozenset(("user", "assistant", "attachment"))


@dataclass(slots=True, eq=False)
class Record:
    """One line: its value and place, and how it hangs in the tree (relinks applied)."""

    value: dict[str, Any]
    node: Node
    index: int
    uuid: str | None
    parent: str | None
    type: str
    side: bool
    time: float | None = None

    @property
    def message(self) -> dict[str, Any]:
        """The API message of a user or assistant line; empty for other lines."""
        message = self.value.get("message")
        return message if isinstance(message, dict) else {}

    @property
    def blocks(self) -> list[Any]:
        """The content blocks; empty where the content is a string."""
        content = self.message.get("content")
        return content if isinstance(content, list) else []

    @property
    def response(self) -> tuple[str, str] | None:
        """What the lines of one response have in common (rule 7)."""
        if self.type != "assistant":
            return None
        id = self.message.get("id")
        return (id, str(self.value.get("requestId"))) if isinstance(id, str) and id else None


@dataclass(slots=True)
class Session:
    """The context of one session or subagent.

    Attributes:
        units: the lines that make one message each, in the order of the context.
        notes: what was left out and why, one sentence each.
    """

    units: list[list[Record]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def records_of(nodes: Iterable[Node]) -> list[Record]:
    """The lines of a session. Of a uuid that stands twice the last line counts (rule 1)."""
    by_uuid: dict[str, Record] = {}
    found: list[Record] = []
    for index, node in enumerate(nodes):
        value = node.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            continue
        uuid, parent = value.get("uuid"), value.get("parentUuid")
        record = Record(
            value,
            node,
            index,
            uuid if isinstance(uuid, str) else None,
            parent if isinstance(parent, str) else None,
            value["type"],
            value.get("isSidechain") is True,
            seconds(value.get("timestamp")),
        )
        found.append(record)
        if record.uuid is not None:
            by_uuid[record.uuid] = record
    return [record for record in found if record.uuid is None or by_uuid[record.uuid] is record]


def seconds(stamp: Any) -> float | None:
    """An ISO 8601 time as seconds since the epoch; None where it is none."""
    if not isinstance(stamp, str):
        return None
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        return None


def rebuild(records: Sequence[Record]) -> Session:
    """The context of ``records``: one session without its subagents, or one subagent."""
    talk = [record for record in records if record.type in _TALK and record.message]
    if not talk:
        return Session()
    by_uuid = {record.uuid: record for record in records if record.uuid is not None}
    session = Session()
    if by_uuid:
        session.notes += _relink(records, by_uuid)
        path, note = _walk(_leaf(records, talk, by_uuid), records, by_uuid)
        session.notes += note
    else:
        path = list(records)
    retracted = _retracted(records)
    path = [r for r in path if r.type in _CONTEXT and (r.uuid not in retracted or not r.uuid)]
    session.units = _units(path, talk, session.notes)
    session.notes += _left_out(talk, path, session.units, retracted, records)
    return session


def _relink(records: Sequence[Record], by_uuid: dict[str, Record]) -> list[str]:
    """Rule 2: a compaction may keep a run of messages; it then continues the summary."""
    boundary = next((r for r in reversed(records) if _is_boundary(r)), None)
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


def _leaf(records: Sequence[Record], talk: Sequence[Record], by_uuid: dict[str, Record]) -> Record:
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
            and record.type not in _TALK
            and not _is_boundary(record)
        ):
            tip = record
    return tip


def _walk(
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
    if record.time is None:
        return None
    near = [
        other
        for other in records
        if other.side == record.side
        and other.uuid is not None
        and other.index not in visited
        and other.time is not None
        and 0 <= record.time - other.time <= _NEAR
        and other.index < record.index
    ]
    return max(near, key=lambda other: (other.time or 0, other.index), default=None)


def _retracted(records: Sequence[Record]) -> set[str]:
    """Records that a refusal took back."""
    found: set[str] = set()
    for record in records:
        uuids = record.value.get("retractedMessageUuids")
        if isinstance(uuids, list):
            found.update(uuid for uuid in uuids if isinstance(uuid, str))
    return found


def _units(path: Sequence[Record], talk: Sequence[Record], notes: list[str]) -> list[list[Record]]:
    """Rules 7 and 8: one unit a response, all its results in one unit right behind it."""
    lines: dict[tuple[str, str], list[Record]] = {}
    results: dict[str, list[Record]] = {}
    for record in talk:
        if record.response is not None:
            lines.setdefault(record.response, []).append(record)
        for id in _result_ids(record):
            results.setdefault(id, []).append(record)
    on_path = {record.index for record in path}
    units: list[list[Record]] = []
    done: set[int] = set()
    recovered = 0
    for record in path:
        if record.index in done:
            continue
        unit = [record]
        if record.response is not None:
            unit = _without_copies(lines[record.response])
        units.append(unit)
        done.update(line.index for line in lines.get(record.response or ("", ""), unit))
        if record.type != "assistant":
            done.add(record.index)
            continue
        answers = _answers(unit, results, on_path, done)
        recovered += sum(line.index not in on_path for line in (*unit, *answers))
        if answers:
            units.append(answers)
            done.update(line.index for line in answers)
    if recovered:
        notes.append(
            f"{counted(recovered, 'line')} of parallel tool calls and results beside the chain of "
            "parents: put back where they belong."
        )
    return units


def _answers(
    unit: Sequence[Record], results: dict[str, list[Record]], on_path: set[int], done: set[int]
) -> list[Record]:
    """The lines with the results of the calls in ``unit``, in the order of the file."""
    answers: dict[int, Record] = {}
    for line in unit:
        for block in line.blocks:
            id = block.get("id") if isinstance(block, dict) else None
            if not isinstance(id, str) or block.get("type") != "tool_use":
                continue
            found = [r for r in results.get(id, ()) if r.index not in done and is_sent(r)]
            chosen = [r for r in found if r.index in on_path] or found[-1:]
            answers |= {r.index: r for r in chosen}
    return [answers[index] for index in sorted(answers)]


def _result_ids(record: Record) -> list[str]:
    if record.type != "user":
        return []
    return [
        block["tool_use_id"]
        for block in record.blocks
        if isinstance(block, dict)
        and block.get("type") == "tool_result"
        and isinstance(block.get("tool_use_id"), str)
    ]


def _without_copies(lines: Sequence[Record]) -> list[Record]:
    """Lines of one response; a resumed session may repeat a line under another uuid."""
    seen: list[Any] = []
    unique = []
    for line in lines:
        content = line.message.get("content")
        if content not in seen:
            seen.append(content)
            unique.append(line)
    return unique


def _is_boundary(record: Record) -> bool:
    return record.type == "system" and record.value.get("subtype") == "compact_boundary"


def is_sent(record: Record) -> bool:
    """Whether the model sees the line: not if only the transcript shows it, except the summary
    of a compaction, and not if it is an error that the harness wrote as if it were an answer."""
    if record.value.get("isVisibleInTranscriptOnly") is True:
        return record.value.get("isCompactSummary") is True
    return record.value.get("isApiErrorMessage") is not True


def _left_out(
    talk: Sequence[Record],
    path: Sequence[Record],
    units: Sequence[Sequence[Record]],
    retracted: set[str],
    records: Sequence[Record],
) -> list[str]:
    """What does not belong to the context, counted in messages as the API would count them."""
    used = {line.index for unit in units for line in unit}
    responses = {line.response for unit in units for line in unit if line.response}
    boundaries = [record for record in records if _is_boundary(record)]
    newest = boundaries[-1] if boundaries else None
    before, beside, seen = 0, 0, set[Any]()
    for record in talk:
        key = record.response or record.index
        if record.index in used or record.response in responses or key in seen:
            continue
        seen.add(key)
        if record.uuid in retracted:
            continue
        if newest is not None and record.index < newest.index:
            before += 1
        else:
            beside += 1
    notes = []
    if newest is not None:
        notes.append(_compaction_note(newest, before))
    if beside:
        notes.append(
            f"{counted(beside, 'message')} on other branches (rewound or retried): left out."
        )
    if retracted:
        notes.append(f"{counted(len(retracted), 'line')} taken back after a refusal: left out.")
    return notes


def _compaction_note(boundary: Record, before: int) -> str:
    meta = boundary.value.get("compactMetadata")
    meta = meta if isinstance(meta, dict) else {}
    tokens = meta.get("preTokens")
    size = f" at {tokens:,} tokens" if isinstance(tokens, int) and tokens else ""
    how = f" ({meta['trigger']}{size})" if isinstance(meta.get("trigger"), str) else ""
    return (
        f"The session was compacted in line {boundary.node.line}{how}: "
        f"{counted(before, 'message')} before it no longer sent."
    )


def sides(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The lines of subagents, by the id of the agent or by the line their chain begins with."""
    by_uuid = {record.uuid: record for record in records if record.uuid is not None}
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.side:
            agent = record.value.get("agentId")
            name = agent if isinstance(agent, str) else _root(record, by_uuid)
            found.setdefault(name, []).append(record)
    return {name: side for name, side in found.items() if any(r.type in _TALK for r in side)}


def _root(record: Record, by_uuid: dict[str, Record]) -> str:
    visited: set[int] = set()
    while record.index not in visited:
        visited.add(record.index)
        above = by_uuid.get(record.parent) if record.parent else None
        if above is None or not above.side:
            break
        record = above
    return f"from line {record.node.line}"


def kinds(records: Sequence[Record]) -> str:
    """What the lines are, most frequent first, for a sentence."""
    counted = Counter(record.type for record in records)
    return ", ".join(f"{count} {kind}" for kind, count in counted.most_common(4))
