"""Claude's tokens, estimated from those of o200k_base: one rule a generation of its tokenizer.

Anthropic publishes no tokenizer for these models. The numbers were measured (2026-12) on recorded
Claude Code sessions: what the reported input of one request has more than that of the request
before it is the size of the messages in between, thinking and images excepted. Fitted are a factor
on the text's o200k_base tokens and a constant for a tool call with its result.

* older tokenizer (Claude 3 to 4.6): 462 steps of claude-sonnet-4, opus-4, sonnet-4-5, haiku-4-5
  and opus-4-6 in 11 files: 1.15 and 75; median error 8 %, 90th percentile 35 %.
* newer tokenizer (Opus 4.7 and 4.8, generation 5): 52 steps of claude-opus-4-7 in 6 files: 1.54
  and 120; median error 4 %, 90th percentile 83 %. Anthropic's pricing page says "up to 35 % more
  tokens for the same fixed text": 1.15 * 1.35 = 1.55.

The large errors are steps in which the harness added text that its log does not hold. cl100k_base
in place of o200k_base changes neither error by more than a tenth of it.

Tokens of the system prompt that tools bring along: Anthropic, "Tool use", table "Tool use system
prompt token count" (tool choice auto).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Models that share a tokenizer.

    Attributes:
        id: for tests and messages. factor: Claude's tokens for one of o200k_base.
        call, result: tokens around a tool call and around a tool result.
        image_edge, image_tokens: the largest image that is not scaled down: pixels of the long
            edge, tokens.
        note: where the rule comes from, one sentence for the user.
    """

    id: str
    factor: float
    call: int
    result: int
    image_edge: int
    image_tokens: int
    note: str


OLDER = Family(
    "claude-3-to-4.6", 1.15, 45, 30, 1568, 1568,
    "Claude's tokens are estimated as 1.15 times those of o200k_base, measured on 462 recorded "
    "requests (median error 8 %).",
)  # fmt: skip

NEWER = Family(
    "claude-4.7-and-later", 1.54, 70, 50, 2576, 4784,
    "Claude's tokens are estimated as 1.54 times those of o200k_base, measured on 52 recorded "
    "requests of Opus 4.7 (median error 4 %).",
)  # fmt: skip

_VERSION = re.compile(r"-(\d)(?:-(\d))?(?!\d)")

_SINCE = (4, 7)
"""The first version that counts by the newer tokenizer."""

_TOOL_PROMPTS = {
    (4, 0): 313,
    (4, 1): 313,
    (4, 5): 496,
    (4, 6): 497,
    (4, 7): 675,
    (4, 8): 290,
    (5, 0): 354,
}
_TOOL_PROMPT = 346


def family_of(model: str | None) -> Family | None:
    """The family of a model's name, or None where it is no Claude model."""
    version = version_of(model)
    if version is None:
        return None
    return NEWER if version >= _SINCE else OLDER


def tool_prompt_tokens(model: str | None) -> int:
    """Tokens that Anthropic adds to a request that brings tools."""
    return _TOOL_PROMPTS.get(version_of(model) or (0, 0), _TOOL_PROMPT)


def version_of(model: str | None) -> tuple[int, int] | None:
    """(major, minor) of a Claude model's name, (0, 0) where it names none; else None.

    >>> version_of("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    (4, 5)
    >>> version_of("claude-3-5-sonnet-latest")
    (3, 5)
    """
    name = (model or "").lower().replace(".", "-")
    at = name.find("claude")
    if at < 0:
        return None
    numbers = _VERSION.search(name, at)
    if numbers is None:
        return (5, 0) if re.match(r"claude-(?:fable|mythos)", name[at:]) else (0, 0)
    return int(numbers.group(1)), int(numbers.group(2) or 0)
