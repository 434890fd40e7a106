"""The formats there are, and which of them a file is."""

from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError, UnknownFormatError
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats.base import Entry, Format, Opened
from stm_inspector.formats.database import tables
from stm_inspector.formats.document import Document, read_document
from stm_inspector.formats.parts import counted
from stm_inspector.formats.sampling import sample


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are tried: specific before general."""
    from stm_inspector.formats.aider import Aider
    from stm_inspector.formats.anthropic_messages import AnthropicMessages
    from stm_inspector.formats.autogen import AutoGen
    from stm_inspector.formats.bedrock_converse import BedrockConverse
    from stm_inspector.formats.chatbot_ui import ChatbotUI
    from stm_inspector.formats.chatgpt import ChatGPT
    from stm_inspector.formats.claude_ai import ClaudeAI
    from stm_inspector.formats.claude_code import ClaudeCode
    from stm_inspector.formats.cline import Cline
    from stm_inspector.formats.gemini import Gemini
    from stm_inspector.formats.hermes import Hermes
    from stm_inspector.formats.inspect_ai import InspectAI
    from stm_inspector.formats.langchain import LangChain
    from stm_inspector.formats.langfuse import Langfuse
    from stm_inspector.formats.langgraph import LangGraph
    from stm_inspector.formats.langsmith import LangSmith
    from stm_inspector.formats.librechat import LibreChat
    from stm_inspector.formats.llama_index import LlamaIndex
    from stm_inspector.formats.llm_logs import LLMLogs
    from stm_inspector.formats.mini_swe_agent import MiniSWEAgent
    from stm_inspector.formats.ollama import Ollama
    from stm_inspector.formats.open_webui import OpenWebUI
    from stm_inspector.formats.openai_chat import OpenAIChat
    from stm_inspector.formats.openai_responses import OpenAIResponses
    from stm_inspector.formats.openhands import OpenHands
    from stm_inspector.formats.openinference import OpenInference
    from stm_inspector.formats.otel_genai import OTelGenAI
    from stm_inspector.formats.plain import Plain
    from stm_inspector.formats.pydantic_ai import PydanticAI
    from stm_inspector.formats.semantic_kernel import SemanticKernel
    from stm_inspector.formats.sharegpt import ShareGPT
    from stm_inspector.formats.swe_agent import SWEAgent
    from stm_inspector.formats.tau_bench import TauBench
    from stm_inspector.formats.vercel import Vercel

    return (
        ClaudeCode(),
        LangGraph(),
        InspectAI(),
        SWEAgent(),
        MiniSWEAgent(),
        TauBench(),
        OpenHands(),
        Hermes(),
        Langfuse(),
        OpenInference(),
        OTelGenAI(),
        Cline(),
        Aider(),
        LLMLogs(),
        ChatGPT(),
        ClaudeAI(),
        OpenWebUI(),
        LibreChat(),
        ChatbotUI(),
        LlamaIndex(),
        AutoGen(),
        PydanticAI(),
        SemanticKernel(),
        Vercel(),
        ShareGPT(),
        OpenAIResponses(),
        BedrockConverse(),
        LangSmith(),
        LangChain(),
        AnthropicMessages(),
        Ollama(),
        OpenAIChat(),
        Gemini(),
        Plain(),
    )


def get_format(format_id: str) -> Format:
    """The format with this id.

    Raises:
        InputError: there is none.
    """
    for known in all_formats():
        if known.id == format_id:
            return known
    raise InputError(f"There is no format {format_id!r}: the formats are {_ids()}.")


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that was opened: what it is and which conversations it holds.

    Attributes:
        path: as the user named it.
        format: id of the format it is read as.
        signature: what in the file gave the format away, in words for the user.
        entries: its conversations; ``default`` is the number of the one to show first.
    """

    path: str
    format: str
    signature: str
    entries: Sequence[Entry]
    default: int
    _opened: Opened
    _document: Document

    def load(self, number: int | None = None) -> Conversation:
        """Read conversation ``number`` (0-based; the default one where None).

        Raises:
            InputError: there is no such conversation, or it cannot be read.
        """
        number = self.default if number is None else number
        if not 0 <= number < len(self.entries):
            raise InputError(
                f"There is no conversation {number} in {self._document.name}: "
                f"they are numbered 0 to {len(self.entries) - 1}."
            )
        try:
            with _no_collection():
                conversation = self._opened.load(number)
        except RecursionError:
            raise InputError(
                f"{self._document.name} is nested too deeply: no conversation looks like that."
            ) from None
        origin = dataclasses.replace(
            conversation.origin,
            path=self.path,
            signature=self.signature,
            skipped=(*self._document.skipped, *conversation.origin.skipped),
            notes=(*self._document.notes, *conversation.origin.notes),
            number=number,
            count=len(self.entries),
        )
        return dataclasses.replace(conversation, origin=origin)


def open_file(path: str | os.PathLike[str], format: str | None = None) -> Recording:
    """Open the file at ``path``, as ``format`` where the user says which it is.

    Raises:
        InputError: it cannot be read, or holds no conversation.
    """
    chosen = get_format(format) if format else None
    with _no_collection():
        return recording_of(read_document(path), chosen)


def recording_of(document: Document, chosen: Format | None = None) -> Recording:
    """The conversations of a document.

    Raises:
        InputError: it holds none.
    """
    try:
        signature = f"read as {chosen.id} because you said so" if chosen else ""
        if chosen is None:
            chosen, signature = _detect(document)
        elif chosen.texts == bool(document.records):
            what = "JSON" if document.records else "text, not JSON"
            raise InputError(f"{document.name} is {what}: it cannot be read as {chosen.id}.")
        opened = chosen.open(document)
    except RecursionError:
        raise InputError(
            f"{document.name} is nested too deeply: no conversation looks like that."
        ) from None
    return Recording(
        document.path, chosen.id, signature, opened.entries, opened.default, opened, document
    )


def write(conversation: Conversation, edit: Edit, *, reply_tokens: int = 4096) -> str:
    """The whole text of a file that holds what ``edit`` leaves of ``conversation``.

    Args:
        reply_tokens: ``max_tokens`` of a request that has to be made up for the occasion.

    Raises:
        InputError: nothing would be left in it, or the conversation was not read from a file.
    """
    if conversation.source is None:
        raise InputError("This conversation was not read from a file: it cannot be exported.")
    known = get_format(conversation.format)
    try:
        return known.write(conversation, edit, reply_tokens=reply_tokens)
    except RecursionError:
        raise InputError("A message is nested too deeply to be written again.") from None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing that a reader makes is garbage: looking for it would double the time to read."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _detect(document: Document) -> tuple[Format, str]:
    """The first format that knows ``document``; those that know nothing of a sample come last."""
    fitting = [known for known in all_formats() if known.texts != bool(document.records)]
    few = document
    for known in fitting:
        if few is document and not known.told_early:
            few = sample(document)
        signature = known.detect(few)
        if signature is not None and few is not document:
            signature = known.detect(document)
        if signature is not None:
            return known, signature
    for known in fitting if few is not document else ():
        signature = known.detect(document)
        if signature is not None:
            return known, signature
    if document.records and _is_empty(document.records[0].value):
        raise InputError(f"{document.name} holds a conversation without messages.")
    if document.records and (found := tables(document.records[0].value)):
        raise UnknownFormatError(
            f"{document.name} is an SQLite database, but none that is known here: its tables are "
            f"{', '.join(sorted(found)[:8])}."
        )
    raise UnknownFormatError(
        f"{document.name} is JSON, but no conversation that is known here: it holds "
        f"{_description(document)}."
    )


def _is_empty(value: Any) -> bool:
    """A list of messages, or a request with one, that is empty."""
    return value == [] or (isinstance(value, dict) and value.get("messages") == [])


def _description(document: Document) -> str:
    many = len(document.records)
    what = f"{many:,} records, the first of them " if many > 1 else ""
    return what + _shape(document.records[0].value)


def _shape(value: Any = None) -> str:
    """What a value looks like from outside, for a sentence."""
    if isinstance(value, list):
        first = "a list" if value and isinstance(value[0], list) else _shape(*value[:1])
        inside = f", the first of them {first}" if value else ""
        return f"a list of {counted(len(value), 'element')}{inside}"
    if not isinstance(value, dict):
        return "no object"
    keys = ", ".join(repr(str(key)[:40]) for key in list(value)[:6])
    more = " and others" if len(value) > 6 else ""
    return f"an object with the keys {keys}{more}" if keys else "an empty object"


def _ids() -> str:
    return ", ".join(known.id for known in all_formats())
