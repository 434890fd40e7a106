"""Which texts a conversation is counted by, each text once, and what is added to them.

Reading the parts is the same for every text counter; the counting itself then runs over plain
lists, in parallel, and the sums are array operations.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stm_inspector.conversation.model import Message, Part, PartKind
from stm_inspector.tokens.framing import Framing, ToolRule
from stm_inspector.tokens.media import document_tokens, image_tokens

_TEXT = PartKind.TEXT


class Ledger:
    """The texts of ``messages`` under one API.

    Attributes:
        texts: every different text once, in order of first use.
        part_starts: int64[n + 1], as in ``TokenCounts``.
        plain: bool[n], the message holds nothing but texts that the file has.
    """

    def __init__(
        self, messages: Sequence[Message], framing: Framing, api: str, model: str | None
    ) -> None:
        self._framing, self._api, self._model = framing, api, model
        self._ids: dict[str, int] = {}
        self._owners: list[int] = []
        self._uses: list[int] = []
        self._name_owners: list[int] = []
        self._name_uses: list[int] = []
        self._added: dict[int, int] = {}
        self._unknown: list[int] = []
        self._tools_messages: list[int] = []
        starts, plain, place = [0], [], 0
        for index, message in enumerate(messages):
            simple = True
            for part in message.parts:
                if part.kind is _TEXT and not part.parts and part.hidden is None:
                    self._use(place, part.text)
                else:
                    simple = False
                    self._part(place, part)
                place += 1
            starts.append(place)
            plain.append(simple)
            if message.source_field == "tools":
                self._tools_messages.append(index)
            elif message.name and framing.name:
                self._name_owners.append(index)
                self._name_uses.append(self._id(message.name))
        self.part_starts: NDArray[np.int64] = np.asarray(starts, dtype=np.int64)
        self.plain: NDArray[np.bool_] = np.asarray(plain, dtype=np.bool_)

    @property
    def texts(self) -> list[str]:
        """Every different text once."""
        return list(self._ids)

    @property
    def unknown(self) -> NDArray[np.int64]:
        """Places of the parts whose content is not in the file."""
        return np.asarray(self._unknown, dtype=np.int64)

    def part_tokens(self, tokens: NDArray[np.float64]) -> NDArray[np.int64]:
        """Tokens of each part, from those of each text; 0 where they are unknown."""
        places = int(self.part_starts[-1])
        owners, uses = np.asarray(self._owners, np.int64), np.asarray(self._uses, np.int64)
        sums = np.rint(np.bincount(owners, tokens[uses], minlength=places)).astype(np.int64)
        for place, number in self._added.items():
            sums[place] += number
        sums[self.unknown] = 0
        return sums

    def overheads(self, tokens: NDArray[np.float64]) -> NDArray[np.int64]:
        """Tokens of each message beside those of its parts."""
        framing = self._framing
        result = np.full(len(self.plain), framing.message, dtype=np.int64)
        names = np.asarray(self._name_uses, dtype=np.int64)
        owners = np.asarray(self._name_owners, dtype=np.int64)
        result[owners] += framing.name + np.rint(tokens[names]).astype(np.int64)
        # Definitions are written into the system message and are no message themselves.
        result[self._tools_messages] = framing.tools_prompt + (framing.tools or _NO_RULE).end
        return result

    def with_any(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool[n]: the message uses a text that is marked (bool[texts])."""
        result = np.zeros(len(self.plain), dtype=np.bool_)
        if marked.any():
            owners = np.asarray(self._owners, dtype=np.int64)
            places = owners[marked[np.asarray(self._uses, dtype=np.int64)]]
            result[np.searchsorted(self.part_starts, places, side="right") - 1] = True
            names = marked[np.asarray(self._name_uses, dtype=np.int64)]
            result[np.asarray(self._name_owners, dtype=np.int64)[names]] = True
        return result

    def _id(self, text: str) -> int:
        return self._ids.setdefault(text, len(self._ids))

    def _use(self, place: int, text: str) -> None:
        if text:
            self._owners.append(place)
            self._uses.append(self._id(text))

    def _add(self, place: int, tokens: int) -> None:
        self._added[place] = self._added.get(place, 0) + tokens

    def _part(self, place: int, part: Part) -> None:
        """Note a part that is more than text; what is nested in it belongs to ``place``."""
        if not self._known(place, part):
            self._unknown.append(place)

    def _known(self, place: int, part: Part) -> bool:
        """Note what is known of ``part``; False if the file holds nothing to count."""
        kind, framing = part.kind, self._framing
        if part.hidden is not None:
            return self._media(place, part)
        if kind is PartKind.TOOL_DEFINITION:
            self._definition(place, part)
            return True
        if kind is PartKind.TOOL_CALL:
            self._add(place, framing.call)
            self._use(place, part.name or "")
        elif kind is PartKind.TOOL_RESULT:
            self._add(place, framing.result)
        self._use(place, part.text)
        nested = [self._known(place, inner) for inner in part.parts]
        own = self._media(place, part)
        if part.text or own or any(nested):
            return True
        return kind in _COUNTED_WHEN_EMPTY and not nested

    def _media(self, place: int, part: Part) -> bool:
        """Note an image or a PDF by its size; False where that is not known.

        OpenAI's price of an image in low detail is known without having seen it.
        """
        if part.kind is PartKind.IMAGE:
            tokens = image_tokens(part.media, self._api, self._model)
        elif part.kind is PartKind.DOCUMENT and not part.text and not part.parts:
            tokens = document_tokens(part.media)
        else:
            return False
        if tokens is not None:
            self._add(place, tokens)
        return tokens is not None

    def _definition(self, place: int, part: Part) -> None:
        function = _function(part) if self._framing.tools else None
        if function is None or self._framing.tools is None:
            self._use(place, part.text)
            return
        lines, tokens = written_out(function, self._framing.tools)
        self._add(place, tokens)
        for line in lines:
            self._use(place, line)


_NO_RULE = ToolRule(0, end=0)

_COUNTED_WHEN_EMPTY = (_TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT, PartKind.THINKING)


def _function(part: Part) -> dict[str, Any] | None:
    """A function definition as {"name", "description", "parameters"}, or None."""
    value = part.raw
    if not isinstance(value, dict):
        try:
            value = json.loads(part.text)
        except (ValueError, RecursionError):
            return None
    inner = value.get("function", value) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) and isinstance(inner.get("name"), str) else None


def written_out(function: dict[str, Any], rule: ToolRule) -> tuple[list[str], int]:
    """The texts that a function definition is counted by, and the tokens around them.

    Only the first level of properties counts, as in the rule's source (OpenAI cookbook, "How
    to count tokens with tiktoken", section on tool calls).
    """
    lines = [f"{function['name']}:{_sentence(function.get('description'))}"]
    tokens = rule.function
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(properties, dict) or not properties:
        return lines, tokens
    tokens += rule.properties
    for name, schema in properties.items():
        about = schema if isinstance(schema, dict) else {}
        tokens += rule.property
        items = about.get("enum")
        if isinstance(items, list):
            tokens += rule.enum + rule.enum_item * len(items)
            lines += [str(item) for item in items]
        lines.append(f"{name}:{about.get('type', '')}:{_sentence(about.get('description'))}")
    return lines, tokens


def _sentence(text: object) -> str:
    return text.removesuffix(".") if isinstance(text, str) else ""
