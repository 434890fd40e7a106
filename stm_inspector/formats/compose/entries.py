"""What a plan leaves of a conversation, message by message, before it takes a target's shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role

NO_CALL = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part on its way. ``index``: the message it stood in, None for an inserted one.

    ``call`` numbers the calls of the conversation; a result carries the number of the call that
    it answers, ``NO_CALL`` where there is none.
    """

    part: Part
    index: int | None
    call: int = NO_CALL

    def with_text(self, text: str) -> Piece:
        """The piece as plain text."""
        return Piece(Part(PartKind.TEXT, text), self.index)


@dataclass(frozen=True, slots=True)
class Entry:
    """A message on its way, or several that became one.

    ``index``: the first message it comes from, None for an inserted one. ``field`` is "system"
    where it stood outside the message list.
    """

    role: Role
    pieces: tuple[Piece, ...]
    index: int | None = None
    name: str | None = None
    field: str | None = None

    def has(self, kind: PartKind) -> bool:
        """Whether a piece of this kind is in it."""
        return any(piece.part.kind is kind for piece in self.pieces)


def edited(conversation: Conversation, edit: Edit) -> list[Entry]:
    """The messages that ``edit`` leaves, with its replacements made and its inserts in place."""
    changes = _Changes(edit)
    entries: list[Entry] = []
    inserts = list(edit.inserts)
    done = 0
    for index in edit.kept:
        while done < len(inserts) and inserts[done].before <= index:
            entries.append(_inserted(inserts[done].role, inserts[done].text))
            done += 1
        message = conversation.messages[index]
        pieces = tuple(Piece(part, index) for part in changes.parts(index, message))
        entries.append(Entry(message.role, pieces, index, message.name, message.source_field))
    entries += [_inserted(insert.role, insert.text) for insert in inserts[done:]]
    return entries


def _inserted(role: str, text: str) -> Entry:
    known = Role(role) if role in Role.__members__.values() else Role.USER
    return Entry(known, (Piece(Part(PartKind.TEXT, text), None),))


class _Changes:
    """Looks up what an edit does to the parts of a message."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self._touched = {index for index, _ in edit.results} | {
            index for index, _ in edit.dropped_parts
        }

    def parts(self, index: int, message: Message) -> Sequence[Part]:
        text = self._edit.texts.get(index)
        if text is not None:
            return (Part(PartKind.TEXT, text),)
        if index not in self._touched:
            return message.parts
        return list(self._remaining(index, message.parts))

    def _remaining(self, index: int, parts: Sequence[Part]) -> Iterator[Part]:
        for number, part in enumerate(parts):
            if (index, number) in self._edit.dropped_parts:
                continue
            new = self._edit.results.get((index, number))
            # What replaces a result is no longer what stands in the source.
            yield (
                part
                if new is None
                else structs.replace(part, text=new, parts=(), hidden=None, raw=None)
            )


def messages_of(entries: Iterable[Entry]) -> list[Message]:
    """The entries as messages, for the functions that look at messages."""
    return [Message(entry.role, tuple(piece.part for piece in entry.pieces)) for entry in entries]
