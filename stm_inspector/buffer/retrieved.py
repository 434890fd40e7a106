"""Recognises retrieved context: search hits, documents, memories brought in from outside.

The rules are conventions, so they stand in one table and the user's marks override them.

Not retrieved by rule: what a coding agent reads of its own workspace (grep, glob, read_file,
code search). It is the work itself, and nearly every message of a coding session would be in
the zone if it counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Conversation, Message, Part, PartKind, Role

BLOCKS = frozenset({"document", "search_result", "web_search_tool_result", "web_fetch_tool_result"})
"""Blocks that hold retrieved content, by the file's own word."""

TAGS = (
    "context",
    "document",
    "documents",
    "knowledge",
    "memories",
    "memory",
    "relevant_documents",
    "relevant_memories",
    "retrieved",
    "retrieved_context",
    "retrieved_documents",
    "search_results",
    "sources",
)
"""Tags with which a text that was brought in begins, as in ``<context>``."""

TOOL_WORDS = re.compile(r"search(es)?|retriev\w*|rag|knowledge|vector\w*|memory|memories|recall")
"""A tool with one of these words in its name retrieves …"""

TOOL_NAMES = frozenset(
    {"file search", "lookup docs", "lookup doc", "get docs", "query docs", "web fetch", "fetch url"}
)
"""… and so does one of exactly this name (words, however they are joined) …"""

WORKSPACE_WORDS = frozenset(
    {"code", "codebase", "dir", "directory", "file", "files", "glob", "grep", "replace", "symbol"}
    | {"symbols", "tool", "tools", "repo"}
)
"""… unless one of these words says that it works on the agent's own workspace."""

SPEAKER_WORDS = re.compile(r"context|documents?|knowledge|memory|memories|rag|retriev\w*")
"""A message whose ``name`` has one of these words was brought in."""

MARKS = ("retrieved", "retrieval", "rag", "is_context")
"""Metadata of a message that says so, if its value is true, or a text such as the source."""

_TAG_AT_START = re.compile(rf"\s*<(?:{'|'.join(TAGS)})[\s>]", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One convention. ``fits`` looks at a message by itself."""

    title: str
    fits: Callable[[Message], bool]


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=4096)
def is_retrieval_tool(name: str | None) -> bool:
    """Whether a tool of that name brings in content from outside the conversation.

    >>> is_retrieval_tool("mcp__kb__searchDocs"), is_retrieval_tool("search_files")
    (True, False)
    """
    words = _words(name or "")
    if " ".join(words) in TOOL_NAMES:
        return True
    return not WORKSPACE_WORDS & set(words) and any(map(TOOL_WORDS.fullmatch, words))


# Python 3.11 takes longer to look a member up than to look at a part.
_ASSISTANT = Role.ASSISTANT
_TEXT = PartKind.TEXT
_RESULT = PartKind.TOOL_RESULT
_DOCUMENT = PartKind.DOCUMENT


def _is_block(part: Part) -> bool:
    if part.kind is _DOCUMENT or part.source_type in BLOCKS:
        return True
    return bool(part.parts) and any(map(_is_block, part.parts))


def _has_block(message: Message) -> bool:
    for part in message.parts:
        if part.kind is _DOCUMENT or part.source_type in BLOCKS or part.parts:
            return any(map(_is_block, message.parts))
    return False


def _begins_with_tag(message: Message) -> bool:
    if message.role is _ASSISTANT or not message.parts:
        return False
    first = message.parts[0]
    return first.kind is _TEXT and bool(_TAG_AT_START.match(first.text))


def _is_result_of_retrieval(message: Message) -> bool:
    for part in message.parts:
        if part.kind is _RESULT and part.name and is_retrieval_tool(part.name):
            return True
    return False


def _speaker_says_so(message: Message) -> bool:
    return message.name is not None and any(map(SPEAKER_WORDS.fullmatch, _words(message.name)))


def _is_marked(message: Message) -> bool:
    return bool(message.tags) and any(message.tags.get(mark) for mark in MARKS)


RULES = (
    Rule("holds a document or search-result block", _has_block),
    Rule("begins with a tag such as <context> or <documents>", _begins_with_tag),
    Rule("is the result of a search or retrieval tool", _is_result_of_retrieval),
    Rule("its speaker's name says so", _speaker_says_so),
    Rule("its metadata says so", _is_marked),
)


def recognise(conversation: Conversation) -> NDArray[np.bool_]:
    """Which messages are retrieved context by rule: bool[n].

    A result that does not name its tool takes the name from the call that it answers.
    """
    messages = conversation.messages
    found = np.zeros(len(messages), dtype=np.bool_)
    for rule in RULES:
        fits = rule.fits
        found |= np.fromiter(map(fits, messages), dtype=np.bool_, count=len(messages))
    answers = [
        result
        for (call, part), (result, _) in conversation.structure.links
        if is_retrieval_tool(messages[call].parts[part].name)
    ]
    found[answers] = True
    return found
