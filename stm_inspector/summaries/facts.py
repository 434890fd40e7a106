"""Facts about the person and the work, found by rules: what a note keeps of a long talk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from stm_inspector.conversation.model import Message, PartKind, Role

FACT_CHARACTERS = 160
"""A longer fact is cut."""

_LOOK_AT = 4_000  # characters of a message


class Topic(StrEnum):
    """What a fact is about, in the order in which a note lists them."""

    NAME = "name"
    ROLE = "role"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    DECISION = "decision"


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, in the words in which it was said."""

    topic: Topic
    text: str


_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?]?")
_NAME = re.compile(r"\b(?:[Mm]y name is|[Cc]all me|I am called)\s+((?:[A-Z][\w'-]+\s?){1,3})")
_RULES: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    (
        Topic.ROLE,
        re.compile(
            r"\b(?:i am|i'm|i work as) (?:a|an|the) \w+|\b(?:you are|act as) (?:a|an|the) \w+",
            re.IGNORECASE,
        ),
    ),
    (
        Topic.PREFERENCE,
        re.compile(r"\bi(?:'d| would)? (?:prefer|like|love|hate|dislike)\b|\bprefer\b", re.I),
    ),
    (
        Topic.CONSTRAINT,
        re.compile(
            r"\b(?:must(?: not)?|mustn't|never|always|do not|don't|at most|at least|only|cannot|"
            r"can't|without|avoid|allerg\w+|deadline|no more than)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Topic.DECISION,
        re.compile(
            r"\b(?:we|i)(?:'ll| will|'ve| have)? (?:decided?|chose|choose|go with|"
            r"going with|agreed?)\b|\blet's (?:use|go with|take)\b|\bdecision:",
            re.IGNORECASE,
        ),
    ),
)
_PERSONAL = (Topic.ROLE, Topic.PREFERENCE, Topic.CONSTRAINT)


def facts_of(message: Message) -> tuple[Fact, ...]:
    """The facts that a message states, in its order.

    A person states all kinds; of the model only decisions count, of tools nothing.
    """
    if message.role not in (Role.USER, Role.ASSISTANT) or message.injected:
        return ()
    found = []
    for part in message.parts:
        if part.kind is PartKind.TEXT:
            for sentence in _SENTENCE.findall(part.text[:_LOOK_AT]):
                found += _facts_in(" ".join(sentence.split()), message.role is Role.USER)
    return tuple(found)


def _facts_in(sentence: str, by_person: bool) -> list[Fact]:
    found = []
    name = _NAME.search(sentence)
    if name and by_person:
        found.append(Fact(Topic.NAME, name.group(1).strip()))
    if sentence.endswith("?"):
        return found
    for topic, pattern in _RULES:
        if (by_person or topic not in _PERSONAL) and pattern.search(sentence):
            found.append(Fact(topic, _cut(sentence)))
            break
    return found


def _cut(text: str) -> str:
    return text if len(text) <= FACT_CHARACTERS else text[: FACT_CHARACTERS - 1].rstrip() + "…"


def merged(known: tuple[Fact, ...], new: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts after ``new`` ones: a new name replaces the old, what was said before is not
    said twice, everything else is added."""
    facts = dict.fromkeys(known)
    for fact in new:
        if fact.topic is Topic.NAME:
            facts = {old: None for old in facts if old.topic is not Topic.NAME}
        facts[fact] = None
    return tuple(facts)


def note_of(facts: Iterable[Fact], most: int) -> str:
    """The facts as a text, by topic; of more than ``most`` the newest. "" for none."""
    newest = tuple(facts)[-most:] if most else ()
    order = list(Topic)
    lines = [
        f"{fact.topic.value}: {fact.text}"
        for fact in sorted(newest, key=lambda fact: order.index(fact.topic))
    ]
    return "\n".join(["[Facts so far]", *lines]) if lines else ""
