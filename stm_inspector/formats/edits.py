"""An ``Edit``, message by message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stm_inspector.conversation.edit import Edit, Insert
from stm_inspector.formats.rewrite import dumps


@dataclass(slots=True)
class MessageEdit:
    """What happens to one message: a new text for all of it, or part index -> what."""

    text: str | None = None
    results: dict[int, str] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return self.text is not None or bool(self.results) or bool(self.gone)


_UNTOUCHED = MessageEdit()


class EditsByMessage:
    """Looks up what ``edit`` does to a message."""

    def __init__(self, edit: Edit) -> None:
        self._edits: dict[int, MessageEdit] = {}
        for index, text in edit.texts.items():
            self._edits.setdefault(index, MessageEdit()).text = text
        for (index, part), text in edit.results.items():
            self._edits.setdefault(index, MessageEdit()).results[part] = text
        for index, part in edit.dropped_parts:
            self._edits.setdefault(index, MessageEdit()).gone.add(part)

    def of(self, index: int) -> MessageEdit:
        """What happens to message ``index``."""
        return self._edits.get(index, _UNTOUCHED)


def steps(edit: Edit) -> Iterator[tuple[int, Insert | None]]:
    """Kept messages (their index) and synthetic ones (-1 and the insert) in the order to write."""
    inserts = list(edit.inserts)
    done = 0
    for index in edit.kept:
        while done < len(inserts) and inserts[done].before <= index:
            yield -1, inserts[done]
            done += 1
        yield index, None
    for insert in inserts[done:]:
        yield -1, insert


def in_order(edit: Edit) -> Iterator[tuple[int | None, str]]:
    """As ``steps``, for APIs with plain messages: the index, or None and a message as JSON."""
    for index, insert in steps(edit):
        if insert is None:
            yield index, ""
        else:
            yield None, dumps({"role": insert.role, "content": insert.text})
