"""aider's .aider.chat.history.md. See formats.md section 23."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from stm_inspector.conversation.model import Message, Role
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import counted
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    shortened,
    text_parts,
    when,
)

_START = re.compile(r"^# aider chat started at (.*)$")
_MODEL = re.compile(r"^(?:Main )?[Mm]odel: (\S+)", re.MULTILINE)
_USER, _NOTICE = "####", ">"
_SHOWN = "what aider showed; whether the model saw it, the file does not say"


class _Run(NamedTuple):
    """A start of aider: when, and its messages as (speaker, text, line)."""

    time: str
    said: list[tuple[str, str, int]]


class Aider(TranscriptFormat):
    """The chat history that aider writes beside a project."""

    id = "aider"
    title = "aider chat history"
    recognised_by = "Markdown that begins with the line # aider chat started at."
    lacks = (
        "The files in the chat, the repository map and the system prompt: what the model saw "
        "cannot be rebuilt."
    )
    section = "23"
    help = (
        "Each start of aider is a conversation, the newest first. Lines that begin with #### are "
        "the user's, those with > are aider's notices, the rest is the model's. Writes the "
        "request body of the API of the model."
    )
    texts = True
    not_here = (
        "The files in the chat, the repository map and the system prompt are not in this file.",
        "A heading #### of the model looks like a line of the user here: both are read as the "
        "user's.",
    )

    def detect(self, document: Document) -> str | None:
        starts = sum(1 for line in document.text.split("\n") if _START.match(line))
        return f"{counted(starts, 'start')} of an aider chat" if starts else None

    def talks(self, document: Document) -> Sequence[Talk]:
        runs = list(_runs(document.text))
        found = [run for run in reversed(runs) if run.said]
        empty = len(runs) - len(found)
        notes = [f"{counted(empty, 'start')} without a message: left out."] if empty else []
        return [_talk(run, notes) for run in found]


def _runs(text: str) -> Iterator[_Run]:
    run: _Run | None = None
    lines: list[tuple[str, str, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        start = _START.match(line)
        if start:
            if run is not None:
                yield run._replace(said=_blocks(lines))
            run, lines = _Run(start[1].strip(), []), []
        elif run is not None:
            lines.append((*_speaker(line), number))
    if run is not None:
        yield run._replace(said=_blocks(lines))


def _speaker(line: str) -> tuple[str, str]:
    for mark in (_USER, _NOTICE):
        if line == mark or line.startswith(f"{mark} "):
            return mark, line[len(mark) + 1 :].rstrip()
    return "", line.rstrip()


def _blocks(lines: Sequence[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Neighbouring lines of one speaker as one text; blank lines belong to nobody's change."""
    found: list[tuple[str, str, int]] = []
    for speaker, group in groupby(lines, lambda line: line[0]):
        block = list(group)
        text = "\n".join(words for _, words, _ in block).strip("\n")
        if not text.strip():
            continue
        first = next(number for _, words, number in block if words)
        if found and found[-1][0] == speaker:
            found[-1] = (speaker, f"{found[-1][1]}\n\n{text}", found[-1][2])
        else:
            found.append((speaker, text, first))
    return found


def _talk(run: _Run, notes: Sequence[str]) -> Talk:
    asked = next((text for speaker, text, _ in run.said if speaker == _USER), "")
    notices = "\n".join(text for speaker, text, _ in run.said if speaker == _NOTICE)
    model = _MODEL.search(notices)
    name = model[1] if model else None
    read = partial(_read, run, notes, api_of(name))
    return Talk(read, shortened(asked), name, len(run.said), when(run.time))


def _read(run: _Run, notes: Sequence[str], api: str) -> Reading:
    return Reading([_message(*block) for block in run.said], notes, api=api)


def _message(speaker: str, text: str, line: int) -> Message:
    notice = speaker == _NOTICE
    return Message(
        Role.USER if speaker else Role.ASSISTANT,
        tuple(text_parts(text)),
        source_role=speaker or "text",
        line=line,
        injected=notice,
        unused=_SHOWN if notice else None,
        raw=text,
    )
