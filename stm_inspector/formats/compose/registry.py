"""The targets there are, and the conversion to one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats.compose import (
    anthropic_messages,
    bedrock_converse,
    gemini,
    langchain,
    openai_chat,
    openai_responses,
)
from stm_inspector.formats.compose.prepare import prepare
from stm_inspector.formats.compose.target import Target
from stm_inspector.formats.compose.text import body_text
from stm_inspector.formats.registry import write
from stm_inspector.formats.wire import WireSource

_TARGETS = (
    openai_chat.TARGET,
    openai_responses.TARGET,
    anthropic_messages.TARGET,
    gemini.TARGET,
    bedrock_converse.TARGET,
    langchain.TARGET,
)


@dataclass(frozen=True, slots=True)
class Composed:
    """A converted conversation.

    Attributes:
        text: the whole file: a request body of the target, as JSON.
        losses: what the target cannot hold and what had to change, one sentence each.
    """

    text: str
    losses: tuple[str, ...]


def targets() -> tuple[Target, ...]:
    """Every API that a conversation can be converted to, in the order of menus."""
    return _TARGETS


def compose(
    conversation: Conversation, edit: Edit, target: str, *, reply_tokens: int = 4096
) -> Composed:
    """What ``edit`` leaves of ``conversation``, as a request of the API ``target``.

    Works on the conversation alone, whatever it was read from. Text, calls, results and ids stay;
    the order is made to fit the API's rules.

    Args:
        target: id of one of ``targets()``.
        reply_tokens: the limit of the reply that the request asks for.

    Raises:
        InputError: there is no such target, or nothing is left to write.
    """
    chosen = next((known for known in _TARGETS if known.id == target), None)
    if chosen is None:
        ids = ", ".join(known.id for known in _TARGETS)
        raise InputError(f"Nothing can be converted to {target!r}: choose one of {ids}.")
    if conversation.format == chosen.id and _is_body(conversation.source):
        return Composed(write(conversation, edit, reply_tokens=reply_tokens), ())
    same = conversation.api == chosen.id
    rules = replace(chosen.rules, is_own=chosen.is_own) if same else chosen.rules
    prepared = prepare(conversation, edit, rules, reply_tokens)
    body = chosen.body(prepared)
    if not _messages_in(body):
        raise InputError("Nothing is left to export: raise the budget or protect something.")
    if prepared.model and not chosen.names_model:
        prepared.losses.say(f"The model ({prepared.model[:60]}) is not named in what is written.")
    elif prepared.model and not same:
        prepared.losses.say(
            f"The model ({prepared.model[:60]}) is the recording's: name one of the target's."
        )
    return Composed(body_text(body), prepared.losses.sentences())


def _messages_in(body: Any) -> Any:
    if isinstance(body, list):
        return body
    return next(body[key] for key in ("messages", "contents", "input") if key in body)


def _is_body(source: Any) -> bool:
    """A request body was read: it is written again as it is."""
    return isinstance(source, WireSource) and source.body is not None
