"""The conversation as it was recorded: plain frozen data, the source of truth.

Nothing here knows a file format, a token counter, a policy or Qt. Readers in
``stm_inspector.formats`` build these objects; everything else only looks at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from stm_inspector.conversation.structure import Structure

NO_TAGS: Mapping[str, Any] = MappingProxyType({})
"""The tags of a message that carries none."""


class Role(StrEnum):
    """Who speaks, in our words. ``Message.source_role`` keeps the file's own word."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartKind(StrEnum):
    """What a piece of a message is.

    ``OPAQUE`` is anything we do not know: it is kept verbatim and never dropped for that.
    """

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TOOL_DEFINITION = "tool_definition"
    IMAGE = "image"
    DOCUMENT = "document"
    THINKING = "thinking"
    COMPACTION = "compaction"
    OPAQUE = "opaque"


# To look a member up takes Python 3.11 longer than all the rest of ``by_person``.
_USER = Role.USER
_RESULT = PartKind.TOOL_RESULT


@dataclass(frozen=True, slots=True)
class Media:
    """What is known of an image or document without decoding more than its header.

    ``width`` and ``height`` are pixels, ``size`` is bytes of the decoded data, ``pages`` pages;
    each is None where the file does not say (a remote URL is never fetched).
    """

    media_type: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None
    pages: int | None = None
    detail: str | None = None
    url: str | None = None


class _Read(Struct, frozen=True, eq=False, gc=False):
    """What is made by the hundred thousand: a struct, because C makes it twenty times as fast.

    ``raw`` is no part of its value. The garbage collector need not look at it, because nothing
    that it holds refers to it. ``msgspec.structs.replace`` gives a copy with changes.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or _value(self) == _value(other)

    def __hash__(self) -> int:
        return hash(_value(self))

    def __repr__(self) -> str:
        shown = zip(self.__struct_fields__, _value(self), strict=False)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"


def _value(read: _Read) -> tuple[Any, ...]:
    """Every field but ``raw``, which is the last."""
    return tuple([getattr(read, name) for name in read.__struct_fields__[:-1]])


class Part(_Read, frozen=True, eq=False, gc=False):
    """One piece of a message.

    Attributes:
        kind: what it is.
        text: what the model reads of it as text: prose, the arguments of a call as they stand
            in the file (JSON), the text of a result, a tool definition as JSON. Token counters
            count this and nothing else but ``media``, ``name`` of calls, and ``parts``.
        name: the tool's name on calls, results (where the file says it) and definitions;
            the title of a document.
        call_id: as in the file; may be None, empty, or used more than once.
        parts: what a tool result or document holds beside or instead of ``text``
            (images, documents, further texts). Their tokens belong to this part.
        media: of an image or document.
        server: the provider ran this tool; call and result stand in one message.
        is_error: a tool result that reports a failure.
        hidden: why the content is not in the file ("encrypted by the provider"), or None.
            Its tokens are unknown, never 0.
        signed: a thinking part whose signature binds it to what stands before it.
        cache_marker: carries a cache breakpoint (``cache_control``).
        source_type: the file's own word for the part ("server_tool_use", "redacted_thinking").
        raw: the parsed value the part was read from, for display and for writing.
    """

    kind: PartKind
    text: str = ""
    name: str | None = None
    call_id: str | None = None
    parts: tuple[Part, ...] = ()
    media: Media | None = None
    server: bool = False
    is_error: bool = False
    hidden: str | None = None
    signed: bool = False
    cache_marker: bool = False
    source_type: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token usage as the provider reported it for one response, in tokens.

    ``input`` is the whole prompt, cached tokens included, whatever the provider's own habit;
    None where the log does not say.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class Message(_Read, frozen=True, eq=False, gc=False):
    """One entry of the log.

    Attributes:
        role: in our words; ``source_role`` is the file's.
        parts: its pieces, in order; may be empty.
        name: the speaker's or tool's name, where given.
        source_field: "system" or "tools" where it stands outside the message list, else None.
        id: the message's own id in the file.
        line: 1-based line of a line-based file.
        time: seconds since the epoch, UTC.
        model: the model that wrote it (assistant messages).
        injected: put in by the harness, not written by a person (hook output, reminders,
            the summary that continues a compacted session).
        unused: why the model did not see it although it stands in the request (everything
            before a compaction block), or None.
        lock: messages with the same non-empty key must stay or go together; set by a reader
            that knows of a bond which call ids do not show.
        usage: what the provider reported with this response.
        tags: marks the file carries (importance, priority, sticky, source of a retrieval).
        raw: the parsed JSON it was read from.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    source_role: str = ""
    name: str | None = None
    source_field: str | None = None
    id: str | None = None
    line: int | None = None
    time: float | None = None
    model: str | None = None
    injected: bool = False
    unused: str | None = None
    lock: str = ""
    usage: Usage | None = None
    tags: Mapping[str, Any] = NO_TAGS
    raw: Any = None

    @property
    def by_person(self) -> bool:
        """A user message that a person wrote: more than tool results, and not injected."""
        return (
            self.role is _USER
            and not self.injected
            and any(part.kind is not _RESULT for part in self.parts)
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of the file that could not be read: where (1-based line), and why."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a conversation came from and what was lost or never there.

    Attributes:
        path: the file as the user named it, or None for data made in memory.
        signature: what in the file gave the format away, in words for the user.
        skipped: pieces that could not be read.
        notes: what the file does not hold, and what was left out by rule, one sentence each
            ("The system prompt and the tool definitions are not in this file.").
        number: 0-based place of this conversation in the file; ``count``: how many there are.
    """

    path: str | None = None
    signature: str = ""
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    number: int = 0
    count: int = 1


@dataclass(frozen=True)
class Conversation:
    """The complete log. Immutable once loaded; ``structure`` is derived once, on first use.

    Attributes:
        format: id of the format it was read as ("claude-code").
        api: id of the API whose validity rules hold for it, and in whose shape it is exported
            ("openai-chat", "anthropic-messages").
        messages: in order; system prompt and tool definitions that stand outside the message
            list come first, with ``source_field`` set.
        model: the model asked, where the file says.
        thinking: the request switches extended thinking on; None where the file does not say.
        title: a title from the file, or "".
        source: the reader's own handle on the source text; only the format that made it looks
            inside, to write kept messages exactly as they were read.
        whole: the longer log that this one is the beginning of, see ``first``.
    """

    format: str
    api: str
    messages: tuple[Message, ...]
    model: str | None = None
    thinking: bool | None = None
    title: str = ""
    origin: Origin = Origin()
    source: Any = field(default=None, repr=False, compare=False)
    whole: Conversation | None = field(default=None, repr=False, compare=False)

    @cached_property
    def structure(self) -> Structure:
        """Turns, call/result links and lock groups, as arrays. Derived once."""
        from stm_inspector.conversation.structure import derive

        if self.whole is not None:
            return self.whole.structure.begins.structure(self.whole.messages, len(self.messages))
        return derive(self.messages)

    def first(self, length: int) -> Conversation:
        """The conversation as it was when it had ``length`` messages.

        Its structure is cut out of this one's instead of being derived anew.
        """
        if length == len(self.messages):
            return self
        return replace(self, messages=self.messages[:length], whole=self.whole or self)
