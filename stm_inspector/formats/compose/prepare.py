"""Bring what a plan leaves into the order that an API wants, whatever it was recorded from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.model import Conversation, PartKind, Role
from stm_inspector.formats.compose import calls, tools
from stm_inspector.formats.compose.entries import Entry, Piece, edited
from stm_inspector.formats.compose.losses import Losses
from stm_inspector.formats.compose.target import Prepared, Rules

_SYSTEM = (Role.SYSTEM, Role.DEVELOPER)


def prepare(conversation: Conversation, edit: Edit, rules: Rules, reply_tokens: int) -> Prepared:
    """Apply ``edit`` and order what is left by ``rules``; what cannot stay is noted."""
    losses = Losses()
    entries = edited(conversation, edit)
    if rules.is_own is None or conversation.format != conversation.api:
        entries = _used(conversation, entries, losses)
    defined, entries = tools.taken_out(entries, rules, losses)
    entries = [
        replace(entry, pieces=tuple(_held(entry.pieces, rules, losses))) for entry in entries
    ]
    _note_speakers(entries, rules, losses)
    system, entries = _system(entries, rules, losses)
    entries = calls.numbered(entries, rules, losses)
    entries = calls.placed(_joined_answers(entries, rules), rules, losses)
    entries = _without_empty(entries, rules, losses)
    if rules.alternates:
        entries = _alternating(entries)
    if rules.alternates and entries and entries[0].role is Role.ASSISTANT:
        losses.say("The first message is the assistant's: this API wants the user's first.")
    return Prepared(
        tuple(system),
        tuple(defined),
        tuple(entries),
        conversation.model,
        reply_tokens,
        losses,
        rules.is_own,
    )


def _used(conversation: Conversation, entries: Sequence[Entry], losses: Losses) -> list[Entry]:
    """Without the messages that stand in the recording but were not read by the model."""
    kept = []
    for entry in entries:
        index = entry.index
        if index is not None and conversation.messages[index].unused:
            losses.add("message", "that the model did not read: left out", index)
        else:
            kept.append(entry)
    return kept


def _held(pieces: Sequence[Piece], rules: Rules, losses: Losses) -> Iterator[Piece]:
    """The pieces of a message that any API can hold."""
    for piece in pieces:
        part = piece.part
        if rules.is_own is not None and rules.is_own(part):
            yield piece
            continue
        if part.cache_marker and not rules.cache_markers:
            losses.add("cache breakpoint", "left out: the target has none", piece.index)
        if part.kind is PartKind.OPAQUE:
            kind = f" of the kind {part.source_type[:40]!r}" if part.source_type else ""
            losses.add(f"part{kind}", "left out: unknown here", piece.index, f"parts{kind}")
        elif part.kind is PartKind.COMPACTION:
            yield from _compaction(piece, losses)
        elif part.kind is PartKind.TEXT and not part.text.strip() and not rules.empty_texts:
            if part.text:
                losses.add("blank text", "left out: the target refuses it", piece.index)
        else:
            yield piece


def _compaction(piece: Piece, losses: Losses) -> Iterator[Piece]:
    if piece.part.text:
        losses.add("compaction block", "written as plain text", piece.index)
        yield piece.with_text(piece.part.text)
    else:
        losses.add(
            "compaction block",
            "left out: its content is encrypted, and with it goes all that it stands for",
            piece.index,
        )


def _note_speakers(entries: Sequence[Entry], rules: Rules, losses: Losses) -> None:
    for entry in entries:
        if entry.name and entry.role is not Role.TOOL and not rules.speakers:
            losses.add("speaker's name", "left out", entry.index, "speakers' names")


def _system(
    entries: Sequence[Entry], rules: Rules, losses: Losses
) -> tuple[list[Piece], list[Entry]]:
    """The system prompt, and the rest, for a target that takes it apart from the messages."""
    if not rules.system_first:
        return [], list(entries)
    system: list[Piece] = []
    rest: list[Entry] = []
    for entry in entries:
        if entry.role not in _SYSTEM:
            rest.append(entry)
        elif not rest:
            system += [piece for piece in entry.pieces if _is_prose(piece, losses)]
        elif entry.pieces:
            losses.add(
                "system message", "between the others: written as text of the user", entry.index
            )
            rest.append(replace(entry, role=Role.USER))
    return system, rest


def _is_prose(piece: Piece, losses: Losses) -> bool:
    if piece.part.kind is PartKind.TEXT:
        return True
    losses.add("part", "of the system prompt that is no text: left out", piece.index)
    return False


def _joined_answers(entries: Sequence[Entry], rules: Rules) -> list[Entry]:
    """Neighbouring messages of the assistant as one, where a call is among them.

    A log of single items has a message for each call; APIs with messages want the calls of one
    answer side by side, and each call answered in the message behind it.
    """
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        if (
            before is not None
            and entry.role is before.role is Role.ASSISTANT
            and entry.name == before.name
            and (
                rules.alternates
                or before.has(PartKind.TOOL_CALL)
                or before.has(PartKind.THINKING)
                or entry.has(PartKind.TOOL_CALL)
            )
        ):
            joined[-1] = replace(before, pieces=before.pieces + entry.pieces)
        else:
            joined.append(entry)
    return joined


def _alternating(entries: Sequence[Entry]) -> list[Entry]:
    """User and assistant in turn; results stand with the user, before everything else."""
    turns: list[Entry] = []
    for entry in entries:
        role = Role.ASSISTANT if entry.role is Role.ASSISTANT else Role.USER
        if turns and turns[-1].role is role:
            pieces = turns[-1].pieces + entry.pieces
            turns[-1] = replace(turns[-1], pieces=pieces)
        else:
            turns.append(Entry(role, entry.pieces, entry.index))
    return turns


def _without_empty(entries: Sequence[Entry], rules: Rules, losses: Losses) -> list[Entry]:
    kept = []
    for entry in entries:
        if entry.pieces or rules.empty_texts:
            kept.append(entry)
        else:
            losses.say("Messages without content are left out: the target refuses them.")
    return kept
