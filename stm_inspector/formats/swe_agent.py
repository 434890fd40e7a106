"""SWE-agent trajectories. See formats.md section 14a.

https://swe-agent.com/latest/usage/trajectories/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from stm_inspector.conversation.model import Message
from stm_inspector.formats.chat_messages import chat_message, is_chat
from stm_inspector.formats.compose.text import parsed
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    list_of,
    object_of,
    objects,
)

_WINDOWS = ("query", "messages")
"""Where a step keeps the messages that were sent for it."""


class SWEAgent(TranscriptFormat):
    """A ``.traj`` file: the history that was sent, and the steps."""

    id = "swe-agent"
    title = "SWE-agent trajectory"
    recognised_by = "trajectory and history, or a history of messages with agent or message_type."
    lacks = (
        "The tool definitions and the times; what history processors shortened is seen only where "
        "the steps keep their query."
    )
    section = "14"
    help = (
        "Reads the history: the demonstration counts as put in by the agent, an observation as "
        "the result of the call whose id it names. Steps that keep what was sent for them are "
        "conversations of their own. Writes an OpenAI Chat request body."
    )
    not_here = ("The tool definitions are not in a trajectory.",)

    def detect(self, document: Document) -> str | None:
        for value in objects(document):
            if not is_chat(value.get("history")):
                continue
            if isinstance(value.get("trajectory"), list):
                return "trajectory and history"
            if any("agent" in raw or "message_type" in raw for raw in _dicts(value["history"])):
                return "a history of messages with agent or message_type"
        return None

    def talks(self, document: Document) -> Sequence[Talk]:
        found = []
        for value in objects(document):
            history = list_of(value.get("history"))
            model = _model(value)
            if history:
                found.append(Talk(partial(_read, history), "history", model, len(history)))
            for step, sent in _windows(value):
                title = f"what was sent for step {step}"
                found.append(Talk(partial(_read_window, sent), title, model, len(sent)))
        return found


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    yield from (value for value in list_of(values) if isinstance(value, dict))


def _windows(value: dict[str, Any]) -> Iterator[tuple[int, list[Any]]]:
    for number, step in enumerate(_dicts(value.get("trajectory")), 1):
        sent = next((step[key] for key in _WINDOWS if is_chat(step.get(key))), None)
        if sent:
            yield number, sent


def _model(value: dict[str, Any]) -> str | None:
    """The model of the configuration to replay the run with (JSON, or JSON in a text)."""
    config = value.get("replay_config")
    if isinstance(config, str):
        try:
            config = parsed(config)
        except ValueError:
            return None
    agent = object_of(object_of(config).get("agent"))
    return string(object_of(agent.get("model")).get("name"))


def _read(history: Sequence[Any]) -> Reading:
    notes = []
    if any(raw.get("is_demo") for raw in _dicts(history)):
        notes.append("The demonstration was put in by the agent: nobody wrote it in this run.")
    agents = sorted({str(raw["agent"]) for raw in _dicts(history) if raw.get("agent")})
    if len(agents) > 1:
        notes.append(f"Several agents share this history: {', '.join(agents)[:200]}.")
    return Reading([_message(raw) for raw in history], notes)


def _read_window(sent: Sequence[Any]) -> Reading:
    return Reading([_message(raw) for raw in sent], ["This is what was sent for one step."])


def _message(raw: Any) -> Message:
    if not isinstance(raw, dict):
        return chat_message(raw)
    adapted = raw
    ids = raw.get("tool_call_ids")
    if isinstance(ids, list) and ids and "tool_call_id" not in raw:
        adapted = {**raw, "tool_call_id": ids[0]}
    read = chat_message(raw, adapted=adapted, injected=bool(raw.get("is_demo")))
    return structs.replace(read, tags={"is_demo": True}) if raw.get("is_demo") else read
