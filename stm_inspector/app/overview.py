"""What there is to say of a conversation as a whole: where it came from, what is in it."""

from __future__ import annotations

from stm_inspector.app.rendering import Stretch
from stm_inspector.app.session import Session
from stm_inspector.conversation.model import Conversation
from stm_inspector.conversation.visible import visible
from stm_inspector.formats import Recording, get_format

SKIPPED_SHOWN = 5
"""Skipped pieces of a file that are named one by one."""


def overview(session: Session) -> list[Stretch]:
    """The open conversation in a few lines; an invitation to choose a block stands last."""
    recording, conversation = session.recording, session.conversation
    if recording is None or conversation is None:
        return []
    return [
        Stretch(_contents(conversation, session), "prose"),
        Stretch("", "prose"),
        Stretch(get_format(recording.format).title, "heading"),
        *(Stretch(line, "prose") for line in format_facts(recording, conversation)),
        Stretch("", "prose"),
        Stretch("Tokens", "heading"),
        *(
            Stretch(visible(note), "prose")
            for note in (session.counts.notes if session.counts else ())
        ),
        Stretch("", "prose"),
        Stretch("Choose a block to read it here.", "title"),
    ]


def _contents(conversation: Conversation, session: Session) -> str:
    structure = conversation.structure
    facts = [
        _number(len(conversation.messages), "message"),
        _number(len(structure.turn_starts), "turn"),
        _number(len(structure.links), "answered tool call"),
    ]
    if structure.groups:
        facts.append(_number(len(structure.groups), "lock group"))
    tools = len(session.index.tools) if session.index is not None else 0
    if tools:
        facts.append(_number(tools, "tool"))
    lines = [" · ".join(facts)]
    if conversation.title:
        lines.insert(0, visible(conversation.title, keep=""))
    if conversation.model:
        lines.append(f"Recorded with {visible(conversation.model, keep='')}")
    return "\n".join(lines)


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def format_facts(recording: Recording, conversation: Conversation) -> list[str]:
    """Why the file was recognised, what it does not hold, and what was skipped; plain lines."""
    lines = [f"Recognised by: {recording.signature}" if recording.signature else ""]
    lines += conversation.origin.notes or [get_format(recording.format).lacks]
    skipped = conversation.origin.skipped
    if skipped:
        pieces = "piece was" if len(skipped) == 1 else "pieces were"
        lines.append(f"{len(skipped):,} {pieces} skipped:")
        for piece in skipped[:SKIPPED_SHOWN]:
            where = f"line {piece.line}: " if piece.line is not None else ""
            lines.append(f"    {where}{piece.reason}")
        if len(skipped) > SKIPPED_SHOWN:
            lines.append(f"    and {len(skipped) - SKIPPED_SHOWN:,} more")
    return [visible(line) for line in dict.fromkeys(lines) if line]
