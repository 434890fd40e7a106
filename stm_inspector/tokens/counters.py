"""The token counters: what each counts by, and how exact that is.

A counter is data: the encoding whose tokens are counted, a factor, and what the API adds. A
counter that asks a server has no place here yet; it will answer later, and better, than the local
one that stands in for it meanwhile (``TokenCounts.complete``).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from tiktoken.model import encoding_name_for_model

from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.tokens.claude import OLDER, family_of
from stm_inspector.tokens.encodings import ENCODINGS
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


class CounterError(InputError):
    """A counter was asked for that is not there; the mistake is in the asking, not in a file."""


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

    ``model`` overrides the conversation's own. A model of which nobody published how it counts
    is counted by o200k_base, which then is an estimate.
    """
    name = model or conversation.model
    own = encoding_of(name)
    if own is not None:
        return _TIKTOKEN + own
    is_claude = family_of(name) is not None
    unknown = not name or find_model(name) is None
    if is_claude or (unknown and conversation.api == "anthropic-messages"):
        return "claude"
    return f"{_TIKTOKEN}o200k_base"


def encoding_of(model: str | None) -> str | None:
    """The bundled encoding that ``model`` counts by, or None where that is not known.

    From the app's table of models, else from tiktoken's own, which knows retired ones too.
    """
    if not model:
        return None
    known = find_model(model)
    if known is not None:
        return known.encoding
    with suppress(KeyError):
        name = encoding_name_for_model(model)
        return name if name in ENCODINGS else None
    return None


def make_counter(counter_id: str, conversation: Conversation, model: str | None = None) -> Counter:
    """The counter ``counter_id`` for a conversation; ``model`` overrides the recorded one.

    Raises CounterError for an unknown id, and for a counter that is not available.
    """
    if counter_id in _LATER:
        raise CounterError(_LATER[counter_id])
    if counter_id not in _TITLES:
        raise CounterError(
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
        return _claude(name)
    return _tiktoken(counter_id, conversation, name)


def _claude(name: str | None) -> Counter:
    family = family_of(name) or OLDER
    framing = framing_of("anthropic-messages", "o200k_base", name)
    notes = (family.note, framing.source)
    return Counter("claude", "o200k_base", family.factor, framing, notes=notes)


def _tiktoken(counter_id: str, conversation: Conversation, name: str | None) -> Counter:
    """By an encoding of OpenAI's: exact where nothing says that the model counts otherwise."""
    encoding = counter_id.removeprefix(_TIKTOKEN)
    framing = framing_of(conversation.api, encoding, name)
    notes = [f"Text is counted with tiktoken's {encoding}.", framing.source]
    own = encoding_of(name)
    if name and own is None:
        notes.append(f"How {name} counts is not published: the numbers are estimates.")
    elif name and own != encoding:
        notes.append(f"{name} counts by {own}: the numbers are estimates.")
    exact = framing.published and (not name or own == encoding)
    return Counter(counter_id, encoding, 1.0, framing, exact, tuple(notes))
