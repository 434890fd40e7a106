"""The context that a Claude Code session file amounts to: which of its lines, in which order.

The file is an append-only log of a tree. The rules are those of formats.md section 4, numbered as
there; the reader of the messages themselves is ``claude_code``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stm_inspector.formats.claude_tree import (
    TALK,
    Record,
    is_boundary,
    leaf_of,
    relink,
    retracted_by,
    walk,
)
from stm_inspector.formats.parts import counted

_CONTEXT = frozenset(("user", "assistant", "attachment"))


@dataclass(slots=True)
class Session:
    """The context of one session or subagent.

    Attributes:
        units: the lines that make one message each, in the order of the context.
        notes: what was left out and why, one sentence each.
    """

    units: list[list[Record]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def rebuild(records: Sequence[Record]) -> Session:
    """The context of ``records``: one session without its subagents, or one subagent."""
    talk = [record for record in records if record.type in TALK and record.message]
    if not talk:
        return Session()
    by_uuid = {record.uuid: record for record in records if record.uuid is not None}
    session = Session()
    if by_uuid:
        session.notes += relink(records, by_uuid)
        path, note = walk(leaf_of(records, talk, by_uuid), records, by_uuid)
        session.notes += note
    else:
        path = list(records)
    retracted = retracted_by(records)
    path = [r for r in path if r.type in _CONTEXT and (r.uuid not in retracted or not r.uuid)]
    session.units = _units(path, talk, session.notes)
    session.notes += _left_out(talk, path, session.units, retracted, records)
    return session


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
    boundaries = [record for record in records if is_boundary(record)]
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


def kinds(records: Sequence[Record]) -> str:
    """What the lines are, most frequent first, for a sentence."""
    counted = Counter(record.type for record in records)
    return ", ".join(f"{count} {kind}" for kind, count in counted.most_common(4))
