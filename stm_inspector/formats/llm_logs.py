"""logs.db of the command line tool llm, old and new schema. See formats.md section 21."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from stm_inspector.conversation.model import Message, Part, PartKind, Role, Usage
from stm_inspector.formats import media
from stm_inspector.formats.branches import way_to
from stm_inspector.formats.database import Row, tables
from stm_inspector.formats.document import Document
from stm_inspector.formats.parts import ONLY_ADDRESS, counted, opaque, string
from stm_inspector.formats.transcript import (
    Reading,
    Talk,
    TranscriptFormat,
    api_of,
    call,
    latest,
    number,
    object_of,
    result,
    shortened,
    system_message,
    text_parts,
    thinking,
    tools_message,
    when,
)
from stm_inspector.formats.wire import ROLES

Tables = Mapping[str, Sequence[Row]]

_NO_ROOT: frozenset[str] = frozenset()


class LLMLogs(TranscriptFormat):
    """The database in which the tool llm logs what it asked and was answered."""

    id = "llm-logs-db"
    title = "llm logs.db"
    recognised_by = "An SQLite database with _llm_migrations, and responses or threads."
    lacks = "Attachments of which only the path or address was logged."
    section = "21"
    help = (
        "Each conversation of the older schema, and each thread of the newer, the newest first; "
        "of a turn the messages that its chain of parents leads to. Writes the request body of "
        "the API of the model."
    )

    def detect(self, document: Document) -> str | None:
        found = _database(document)
        if found is None:
            return None
        return "the tables _llm_migrations and " + (
            "threads" if found.get("threads") else "responses"
        )

    def talks(self, document: Document) -> Sequence[Talk]:
        found = _database(document)
        if found is None:
            return []
        talks = [*_threads(found), *_conversations(found)]
        return sorted(talks, key=lambda talk: -(talk.time or 0.0))


def _database(document: Document) -> Tables | None:
    """The tables of a logs.db; None where the document is something else."""
    for record in document.records:
        found = tables(record.value)
        if "_llm_migrations" in found and ("responses" in found or "threads" in found):
            return found
    return None


def _by(rows: Iterable[Row], key: str) -> dict[Any, list[Row]]:
    """The rows by what they say under ``key``, in order."""
    found: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        if isinstance(row.get(key), str | int):
            found[row[key]].append(row)
    return found


def _one_by(rows: Iterable[Row], key: str) -> dict[Any, Row]:
    return {value: same[-1] for value, same in _by(rows, key).items()}


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _usage(row: Row) -> Usage | None:
    sent, written = number(row.get("input_tokens")), number(row.get("output_tokens"))
    details = object_of(_parsed(row.get("token_details")))
    cached = number(details.get("cached_tokens"))
    if cached is None:
        cached = number(object_of(details.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(sent, written, cached) if sent is not None or written is not None else None


class _Store:
    """Attachments and tools, which both schemas keep alike."""

    def __init__(self, found: Tables) -> None:
        self._attachments = _one_by(found.get("attachments", ()), "id")
        self._tools = _one_by(found.get("tools", ()), "id")

    def attachment(self, id: Any) -> Part:
        """A picture or document, with its data where the database holds it."""
        row = self._attachments.get(id) if isinstance(id, str | int) else None
        if row is None:
            return opaque({"attachment": id}, hidden="not in the database")
        mime = string(row.get("type"))
        data = string(object_of(row.get("content")).get("base64"))
        address = string(row.get("url")) or string(row.get("path")) or ""
        found = media.from_base64(data, mime) if data else media.from_url(address)
        image = (mime or "").startswith("image/")
        return Part(
            PartKind.IMAGE if image else PartKind.DOCUMENT,
            name=string(row.get("path")),
            media=found,
            hidden=None if data else ONLY_ADDRESS,
            source_type="attachment",
            raw={"media_type": mime, "data": data} if data else row,
        )

    def definitions(self, rows: Iterable[Row]) -> list[Message]:
        """The tools that these rows name, each once."""
        ids = dict.fromkeys(row.get("tool_id") for row in rows)
        known = [self._tools[id] for id in ids if isinstance(id, str | int) and id in self._tools]
        return tools_message(
            [
                {
                    "name": tool.get("name"),
                    "description": tool.get("description"),
                    "input_schema": _parsed(tool.get("input_schema")),
                }
                for tool in known
            ]
        )


def _threads(found: Tables) -> Iterator[Talk]:
    """The newer schema: messages know their parent, a thread knows its last message."""
    messages = _one_by(found.get("messages", ()), "hash")
    parents = {hash: string(row.get("parent_hash")) for hash, row in messages.items()}
    parts = _by(found.get("parts", ()), "message_hash")
    turns = _one_by(found.get("turns", ()), "tip_message_hash")
    used = _by(found.get("turn_tools", ()), "turn_id")
    by_thread = _by(found.get("turns", ()), "thread_id")
    store = _Store(found)
    for thread in found.get("threads", ()):
        tip = thread.get("tip_message_hash")
        if not isinstance(tip, str) or tip not in messages:
            continue
        own = by_thread.get(thread.get("id"), [])
        model = next((name for turn in reversed(own) if (name := _model(turn))), None)

        def read(tip: str = tip, own: Sequence[Row] = own, model: str | None = model) -> Reading:
            way = way_to(tip, parents, _NO_ROOT)
            said = [
                _stored(messages[hash], parts.get(hash, []), turns.get(hash), store)
                for hash in way.ids
            ]
            tools = store.definitions(row for turn in own for row in used.get(turn.get("id"), []))
            return Reading([*tools, *said], [way.note] if way.note else [], api=api_of(model))

        yield Talk(
            read,
            string(thread.get("name")) or "",
            model,
            None,
            latest([thread.get("datetime_utc"), *(turn.get("datetime_utc") for turn in own)]),
        )


def _model(row: Row) -> str | None:
    return string(row.get("resolved_model")) or string(row.get("model"))


def _stored(row: Row, parts: Sequence[Row], turn: Row | None, store: _Store) -> Message:
    """A message of the newer schema; ``turn`` is the one that it ends."""
    word = string(row.get("role")) or ""
    ordered = sorted(parts, key=lambda part: number(part.get("position")) or 0)
    return Message(
        ROLES.get(word, Role.USER),
        tuple(part for raw in ordered for part in _part(raw, store)),
        source_role=word,
        id=string(row.get("hash")),
        time=when(turn.get("datetime_utc")) if turn else None,
        model=_model(turn) if turn else None,
        usage=_usage(turn) if turn else None,
        raw={**row, "parts": ordered},
    )


def _part(raw: Row, store: _Store) -> list[Part]:
    kind = raw.get("type")
    payload = object_of(_parsed(raw.get("payload")))
    name = payload.get("name", raw.get("tool_name"))
    id = payload.get("tool_call_id")
    if kind == "text":
        return text_parts(raw.get("text"))
    if kind in ("reasoning", "thinking"):
        return [thinking(string(raw.get("text")) or "", raw, kind)]
    if kind == "tool_call":
        return [call(name, payload.get("arguments"), id, raw)]
    if kind == "tool_result":
        failed = bool(payload.get("exception"))
        return [result(name, payload.get("output"), id, raw, is_error=failed)]
    if kind == "attachment":
        return [store.attachment(object_of(payload.get("attachment")).get("id"))]
    return [opaque(raw)]


def _conversations(found: Tables) -> Iterator[Talk]:
    """The older schema: a row for each response, with the prompt that it answers."""
    rows = _by(
        (
            {**row, "group": row.get("conversation_id") or row.get("id")}
            for row in found.get("responses", ())
        ),
        "group",
    )
    names = _one_by(found.get("conversations", ()), "id")
    beside = _Beside(found)
    for id, responses in rows.items():
        name = string(names.get(id, {}).get("name"))
        asked = next((text for row in responses if (text := string(row.get("prompt")))), "")
        model = _model(responses[-1])
        yield Talk(
            partial(_answers, responses, beside, model),
            name or shortened(asked),
            model,
            None,
            latest(row.get("datetime_utc") for row in responses),
        )


class _Beside:
    """What the older schema keeps beside the responses, by the id of the response."""

    def __init__(self, found: Tables) -> None:
        self.store = _Store(found)
        self.calls = _by(found.get("tool_calls", ()), "response_id")
        self.results = _by(found.get("tool_results", ()), "response_id")
        self.tools = _by(found.get("tool_responses", ()), "response_id")
        self._attached = _by(found.get("prompt_attachments", ()), "response_id")
        self._contents = _one_by(found.get("fragments", ()), "id")
        self._of_prompt = _by(found.get("prompt_fragments", ()), "response_id")
        self._of_system = _by(found.get("system_fragments", ()), "response_id")

    def attachments(self, id: Any) -> list[Part]:
        rows = sorted(self._attached.get(id, []), key=lambda row: number(row.get("order")) or 0)
        return [self.store.attachment(row.get("attachment_id")) for row in rows]

    def text(self, row: Row, key: str) -> str:
        """A prompt or system prompt, behind the fragments that were put before it."""
        named = (self._of_prompt if key == "prompt" else self._of_system).get(row.get("id"), [])
        ordered = sorted(named, key=lambda fragment: number(fragment.get("order")) or 0)
        texts = [
            string(self._contents.get(fragment.get("fragment_id"), {}).get("content"))
            for fragment in ordered
        ]
        return "\n".join(text for text in (*texts, string(row.get(key))) if text)


def _answers(responses: Sequence[Row], beside: _Beside, model: str | None) -> Reading:
    systems = [text for row in responses if (text := beside.text(row, "system"))]
    tools = beside.store.definitions(
        tool for row in responses for tool in beside.tools.get(row.get("id"), [])
    )
    said = [message for row in responses for message in _turn(row, beside)]
    notes = []
    if len(set(systems)) > 1:
        others = counted(len(set(systems)) - 1, "other system prompt")
        notes.append(f"Earlier turns had {others}: the newest is shown.")
    outside = [*system_message(systems[-1] if systems else None), *tools]
    return Reading([*outside, *said] if said else [], notes, api=api_of(model))


def _turn(row: Row, beside: _Beside) -> Iterator[Message]:
    """The results that a response was asked with, its prompt, and the response."""
    id = row.get("id")
    make = partial(Message, id=string(id), time=when(row.get("datetime_utc")), raw=row)
    results = [
        result(
            raw.get("name"),
            raw.get("output"),
            raw.get("tool_call_id"),
            raw,
            is_error=bool(raw.get("exception")),
        )
        for raw in beside.results.get(id, [])
    ]
    if results:
        yield make(Role.TOOL, tuple(results), source_role="tool_results")
    asked = [*text_parts(beside.text(row, "prompt")), *beside.attachments(id)]
    if asked:
        yield make(Role.USER, tuple(asked), source_role="prompt")
    thought = string(row.get("reasoning"))
    answer = [thinking(thought, row["reasoning"], "reasoning")] if thought else []
    answer += text_parts(row.get("response"))
    answer += [
        call(raw.get("name"), raw.get("arguments"), raw.get("tool_call_id"), raw)
        for raw in beside.calls.get(id, [])
    ]
    if answer:
        yield make(
            Role.ASSISTANT,
            tuple(answer),
            source_role="response",
            model=_model(row),
            usage=_usage(row),
        )
