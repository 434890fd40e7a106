"""Tokens of images and documents by their size and the provider's published rule.

Never by their base64. Sources:

* OpenAI, "Images and vision", section on calculating costs (read 2026): tiles of 512 px for
  gpt-4o, gpt-4.1, gpt-4.5, gpt-5 (chat) and o1/o3; patches of 32 px, at most 1,536 of them times
  a factor, for gpt-4.1-mini, gpt-4.1-nano, gpt-5-mini, gpt-5-nano and o4-mini.
* Anthropic, "Vision" (2026): one token for each patch of 28 px. Larger images are scaled down to
  1,568 px on the long edge and 1,568 tokens, since Opus 4.7 to 2,576 px and 4,784 tokens.
* Anthropic, "PDF support": 1,500 to 3,000 text tokens a page, and each page as an image as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stm_inspector.conversation.model import Media
from stm_inspector.tokens.claude import OLDER, Family, family_of


class _Tiles(NamedTuple):
    base: int
    tile: int


class _Patches(NamedTuple):
    limit: int
    factor: float


# Model name prefix -> rule; the longest prefix that fits holds.
_OPENAI_RULES: dict[str, _Tiles | _Patches] = {
    "gpt-4o": _Tiles(85, 170),
    "gpt-4.1": _Tiles(85, 170),
    "gpt-4.5": _Tiles(85, 170),
    "gpt-4o-mini": _Tiles(2833, 5667),
    "gpt-5": _Tiles(70, 140),
    "o1": _Tiles(75, 150),
    "o3": _Tiles(75, 150),
    "gpt-4.1-mini": _Patches(1536, 1.62),
    "gpt-4.1-nano": _Patches(1536, 2.46),
    "gpt-5-mini": _Patches(1536, 1.62),
    "gpt-5-nano": _Patches(1536, 2.46),
    "o4-mini": _Patches(1536, 1.72),
}
_OPENAI_DEFAULT = _Tiles(85, 170)

_PATCH = 28
"""Pixels of the edge of Claude's patches."""

_PDF_TEXT = 2250
"""Middle of the published 1,500 to 3,000 text tokens a page."""

_PDF_PAGE_IMAGE = 1568
"""A page shown as an image of the largest size that is not scaled down."""


def image_tokens(media: Media | None, api: str, model: str | None) -> int | None:
    """Tokens of an image, or None where the file does not say how large it is."""
    if api == "anthropic-messages":
        return _anthropic_image(media, family_of(model) or OLDER)
    rule = _openai_rule(model)
    if isinstance(rule, _Tiles) and media is not None and media.detail == "low":
        return rule.base
    if media is None or not media.width or not media.height:
        return None
    if isinstance(rule, _Tiles):
        return _tiled(rule, media.width, media.height)
    return _patched(rule, media.width, media.height)


def document_tokens(media: Media | None) -> int | None:
    """Tokens of a PDF by its pages, or None where the file does not say how many it has."""
    if media is None or not media.pages:
        return None
    return media.pages * (_PDF_TEXT + _PDF_PAGE_IMAGE)


def _openai_rule(model: str | None) -> _Tiles | _Patches:
    fitting = [prefix for prefix in _OPENAI_RULES if (model or "").startswith(prefix)]
    return _OPENAI_RULES[max(fitting, key=len)] if fitting else _OPENAI_DEFAULT


def _tiled(rule: _Tiles, width: int, height: int) -> int:
    """Fit into 2,048 px, then the short side into 768 px, then count tiles of 512 px."""
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    across = math.ceil(round(width * scale, 3) / 512)
    down = math.ceil(round(height * scale, 3) / 512)
    return rule.base + rule.tile * across * down


def _patched(rule: _Patches, width: int, height: int) -> int:
    """Count patches of 32 px; an image that needs more than the limit is scaled down to fit."""
    across, down = width / 32, height / 32
    if math.ceil(across) * math.ceil(down) > rule.limit:
        scale = math.sqrt(rule.limit / (across * down))
        scale *= min(
            math.floor(across * scale) / (across * scale),
            math.floor(down * scale) / (down * scale),
        )
        across, down = round(across * scale, 6), round(down * scale, 6)
    return math.ceil(min(rule.limit, math.ceil(across) * math.ceil(down)) * rule.factor)


def _anthropic_image(media: Media | None, family: Family) -> int | None:
    if media is None or not media.width or not media.height:
        return None
    long, short = max(media.width, media.height), min(media.width, media.height)
    tokens = math.ceil(long / _PATCH) * math.ceil(short / _PATCH)
    if long <= family.image_edge and tokens <= family.image_tokens:
        return tokens
    # Scaled down to whole patches along the long edge: the most whose area is allowed.
    for across in range(family.image_edge // _PATCH, 0, -1):
        tokens = across * math.ceil(across * short / long)
        if tokens <= family.image_tokens:
            return tokens
    return family.image_tokens
