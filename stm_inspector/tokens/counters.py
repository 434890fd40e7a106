"""The token counters: what each counts by, and how exact that is.

A counter is data: the encoding whose tokens are counted, a factor, and what the API adds. A
counter that asks a server has no place here yet; it will answer later, and better, than the local
one that stands in for it meanwhile (``TokenCounts.complete``).
"""

from __future__ import annotations

from dataclasses import dataclass

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.claude import family_of
from stm_inspector.tokens.framing import Framing, framing_of
from stm_inspector.tokens.models import find_model

_TIKTOKEN = "tiktoken:"

_TITLES = {
    "auto": "Automatic: the model's own encoding",
    "tiktoken:o200k_base": "o200k_base (GPT-4o and later)",
    "tiktoken:cl100k_base": "cl100k_base (GPT-4, GPT-3.5)",
    "claude": "Claude (estimate)",
    "chars4": "Characters / 4",
    "unit": "1 a message",
}

_LATER = {"anthropic": "Exact counts by Anthropic's endpoint are not available yet: use claude."}


@dataclass(frozen=True, slots=True)
class Counter:
    """How one conversation is counted.

    Attributes:
        id: as on the command line ("tiktoken:o200k_base").
        encoding: the encoding whose tokens are counted; "" for a rule that needs none.
        factor: tokens of the model for one token of the encoding.
        framing: what the API adds; None for a rule without it.
        exact: messages that hold nothing but text are counted as the provider counts them.
        notes: how the numbers come about, one sentence each.
    """

    id: str
    encoding: str = ""
    factor: float = 1.0
    framing: Framing | None = None
    exact: bool = False
    notes: tuple[str, ...] = ()


def counter_ids() -> tuple[str, ...]:
    """The ids of all counters, "auto" first."""
    return tuple(_TITLES)


def counter_title(counter_id: str) -> str:
    """The name of a counter in the window."""
    return _TITLES[counter_id]


def resolve_auto(conversation: Conversation, model: str | None = None) -> str:
    """The counter that "auto" stands for: that of the model, else of the API.

    ``model`` overrides the conversation's own.
    """
    name = model or conversation.model or ""
    known = find_model(name)
    if known is not None and known.encoding:
        return _TIKTOKEN + known.encoding
    if family_of(name) is not None or (not name and conversation.api == "anthropic-messages"):
        return "claude"
    if known is None and conversation.api == "anthropic-messages":
        return "claude"
    return _TIKTOKEN + "o200k_base"


def make_counter(counter_id: str, conversation: Conversation, model: str | None = None) -> Counter:
    """The counter ``counter_id`` for a conversation; ``model`` overrides the recorded one.

    Raises InputError for an unknown id, and for a counter that is not available.
    """
    if counter_id in _LATER:
        raise InputError(_LATER[counter_id])
    if counter_id not in _TITLES:
        raise InputError(
            f"There is no token counter {counter_id!r}: choose one of {', '.join(_TITLES)}."
        )
    if counter_id == "auto":
        counter_id = resolve_auto(conversation, model)
    name = model or conversation.model
    if counter_id == "unit":
        return Counter("unit", exact=True, notes=("Every message counts as 1.",))
    if counter_id == "chars4":
        return Counter("chars4", notes=("A quarter of the characters of each message's text.",))
    if counter_id == "claude":
        return _claude(conversation, name)
    return _tiktoken(counter_id, conversation, name)


def _claude(conversation: Conversation, name: str | None) -> Counter:
    family = family_of(name)
    framing = framing_of("anthropic-messages", "o200k_base")
    rule = family or family_of("claude")
    assert rule is not None
    return Counter("claude", "o200k_base", rule.factor, framing, False, (rule.note, framing.source))


def _tiktoken(counter_id: str, conversation: Conversation, name: str | None) -> Counter:
    encoding = counter_id.removeprefix(_TIKTOKEN)
    framing = framing_of(conversation.api, encoding)
    own = find_model(name).encoding if name and find_model(name) else None  # type: ignore[union-attr]
    foreign = family_of(name) is not None or (own is None and _is_known(name))
    exact = framing.published and not foreign and own in (None, encoding)
    notes = [f"Text is counted with tiktoken's {encoding}.", framing.source]
    if foreign or own not in (None, encoding):
        notes.append(f"{name} does not count by {encoding}: the numbers are estimates.")
    return Counter(counter_id, encoding, 1.0, framing, exact, tuple(notes))


def _is_known(name: str | None) -> bool:
    return bool(name) and find_model(name or "") is not None
