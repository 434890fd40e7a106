"""The offline summary: the first sentence of each message, by role."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role
from stm_inspector.summaries.summary import Summary

LINE_CHARACTERS = 160
"""A longer first sentence is cut …"""

MESSAGE_CHARACTERS = 200
"""… and so is a message of several parts."""

ARGUMENT_CHARACTERS = 60
_MORE = "… "
_FIRST_GUESS = 16  # lines
_FULL_ENOUGH = 0.9  # of the bound: filling the rest is not worth another count
_LOOK_AT = 2_000  # characters of a text in which its first sentence is searched
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[。！？]")


def first_sentence(text: str, most: int = LINE_CHARACTERS) -> str:
    """The first sentence of ``text``: to the end of its first line that says anything, or to
    the first full stop; at most ``most`` characters.

    >>> first_sentence("Use the parser. Then test it.")
    'Use the parser.'
    """
    line = _first_line(text)
    end = _SENTENCE_END.search(line)
    return _cut(line[: end.end()] if end else line, most)


def _first_line(text: str) -> str:
    lines = (" ".join(line.split()) for line in text[:_LOOK_AT].splitlines())
    return next((line for line in lines if line), "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _piece(part: Part) -> str:
    match part.kind:
        case PartKind.TEXT | PartKind.COMPACTION:
            return first_sentence(part.text)
        case PartKind.TOOL_CALL:
            arguments = _cut(" ".join(part.text[:_LOOK_AT].split()), ARGUMENT_CHARACTERS)
            return f"called {part.name or 'a tool'}({arguments})"
        case PartKind.TOOL_RESULT:
            inner = (first_sentence(item.text) for item in part.parts if item.text)
            text = _cut(_first_line(part.text), LINE_CHARACTERS) or next(inner, "")
            failed = "failed: " if part.is_error else ""
            named = f"result of {part.name}: " if part.name else "result: "
            return f"{named}{failed}{text or 'nothing'}"
        case PartKind.IMAGE:
            return "[image]"
        case PartKind.DOCUMENT:
            return f"[document {part.name}]" if part.name else "[document]"
        case _:
            return ""


def _is_result(part: Part) -> bool:
    return part.kind is PartKind.TOOL_RESULT


def line_of(message: Message) -> str:
    """One message in one line: its role, and what its parts begin with."""
    pieces = [piece for piece in map(_piece, message.parts) if piece]
    results_only = message.parts and all(map(_is_result, message.parts))
    role = Role.TOOL if results_only else message.role
    return f"{role}: {_cut('; '.join(pieces) or '(nothing in words)', MESSAGE_CHARACTERS)}"


@dataclass(frozen=True, slots=True)
class Extractive:
    """Takes over the first sentence of each message; needs no model and no network."""

    id: str = "extractive"
    title: str = "First sentences (offline)"

    def summarise(
        self,
        conversation: Conversation,
        indices: Sequence[int],
        *,
        max_tokens: int,
        count: Callable[[str], int],
        previous: Summary | None = None,
    ) -> Summary:
        """Summarise the messages ``indices``; see ``Summariser``.

        Where the lines of all of them, and those of ``previous``, exceed ``max_tokens``, lines
        are left out evenly, and the last line says how many messages have none.
        """
        told = () if previous is None else previous.stands_for
        stands_for = tuple(sorted({*told, *indices}))
        chosen = _Lines(conversation, () if previous is None else _lines_of(previous), indices)
        best, fits, fails = None, 0, len(chosen) + 1
        lines = min(_FIRST_GUESS, len(chosen))
        while fails - fits > 1:
            text = _text(chosen, len(stands_for), lines)
            tokens = count(text)
            if tokens <= max_tokens or lines == 1:
                best, fits = Summary(text, tokens, stands_for), lines
                if tokens >= _FULL_ENOUGH * max_tokens:
                    break
            else:
                fails = lines
            guess = int(lines * max_tokens / max(1, tokens))
            lines = min(max(guess, fits + 1), fails - 1)
        if best is None:
            raise ValueError("there is nothing to summarise")
        return best


def _lines_of(summary: Summary) -> tuple[str, ...]:
    """The lines of a summary that tell of messages."""
    lines = summary.text.splitlines()[1:]
    return tuple(lines[:-1] if lines and lines[-1].startswith(_MORE) else lines)


class _Lines:
    """The lines of an earlier summary and of messages, each made when it is asked for."""

    def __init__(
        self, conversation: Conversation, earlier: Sequence[str], indices: Sequence[int]
    ) -> None:
        self._conversation, self._earlier, self._indices = conversation, earlier, indices

    def __len__(self) -> int:
        return len(self._earlier) + len(self._indices)

    def __getitem__(self, at: int) -> str:
        if at < len(self._earlier):
            return self._earlier[at]
        index = int(self._indices[at - len(self._earlier)])
        return line_of(self._conversation.messages[index])


def _text(lines: _Lines, total: int, most: int) -> str:
    chosen = np.linspace(0, len(lines) - 1, most).round().astype(int).tolist()
    text = [f"[Summary of {total:,} earlier {'message' if total == 1 else 'messages'}]"]
    text += [lines[at] for at in chosen]
    left_out = total - most
    if left_out:
        text.append(f"{_MORE}{left_out:,} more {'message' if left_out == 1 else 'messages'}")
    return "\n".join(text)
