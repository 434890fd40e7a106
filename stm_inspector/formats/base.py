"""What a format is, and what opening a file with it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.model import Conversation
from stm_inspector.formats.document import Document


@dataclass(frozen=True, slots=True)
class Entry:
    """One conversation of a file, before it is loaded.

    Attributes:
        number: 0-based place in the file.
        title: what to call it; "" where the file has no name for it.
        model: the model asked, where the file says.
        messages: how many messages ``load`` will give, or None where that takes loading it.
        time: seconds since the epoch, UTC, of its last message, where the file says.
    """

    number: int
    title: str = ""
    model: str | None = None
    messages: int | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """The conversations that a format found in a document. ``load`` reads one of them."""

    entries: Sequence[Entry]
    load: Callable[[int], Conversation]
    default: int = 0


class Format(ABC):
    """A way of writing conversations down.

    Attributes:
        id: on the command line and in JSON.
        title: for menus.
        recognised_by: what gives it away, one sentence for the user.
        lacks: what a file of this kind does not hold, one sentence; "" where it is complete.
        section: where the docs describe it.
        help: what is read and what is written, one paragraph.
        texts: it reads text that is no JSON: documents without records.
        told_early: ``detect`` hardly costs anything, however large the document.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    recognised_by: ClassVar[str]
    lacks: ClassVar[str]
    section: ClassVar[str]
    help: ClassVar[str]
    texts: ClassVar[bool] = False
    told_early: ClassVar[bool] = False

    @abstractmethod
    def detect(self, document: Document) -> str | None:
        """What in ``document`` speaks for this format, in words for the user; None if nothing."""

    @abstractmethod
    def open(self, document: Document) -> Opened:
        """The conversations in ``document``, whether ``detect`` knew it or the user said so.

        Raises:
            InputError: there is none.
        """

    @abstractmethod
    def write(self, conversation: Conversation, edit: Edit, *, reply_tokens: int) -> str:
        """The whole text of a file that holds what ``edit`` leaves of ``conversation``."""
