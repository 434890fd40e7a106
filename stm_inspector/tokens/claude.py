"""Claude's tokens from those of o200k_base: a factor for each generation of its tokenizer."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Models that share a tokenizer.

    Attributes:
        id: "claude-4" and the like. factor: Claude's tokens for one token of o200k_base.
        note: where the factor comes from, one sentence for the user.
    """

    id: str
    factor: float
    note: str


_OLDER = Family("claude-3-4", 1.15, "Claude's tokens are taken as 1.15 times those of o200k_base.")
_NEWER = Family("claude-5", 1.5, "Claude's tokens are taken as 1.5 times those of o200k_base.")

_NEW_NAMES = re.compile(r"claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|pre))")


def family_of(model: str | None) -> Family | None:
    """The family of a model's name, or None where it is no Claude model."""
    name = (model or "").lower().replace(".", "-")
    at = name.find("claude")
    if at < 0:
        return None
    return _NEWER if _NEW_NAMES.match(name, at) else _OLDER
