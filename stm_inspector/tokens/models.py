"""The models that the app knows: context window, encoding and prices."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from stm_inspector.paths import resource


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    Attributes:
        name: as its provider's own API takes it. provider: "OpenAI".
        api: id of the API it is asked by ("openai-chat").
        window: the most tokens that a request may hold. Where a provider lists input and
            output apart (gpt-5: 272,000 + 128,000 of 400,000) this is the input alone.
        max_output: the most tokens of a reply.
        encoding: the bundled encoding it counts by, or None where that is not published.
        input, output, cache_read, cache_write, cache_write_1h: US$ per million tokens, None
            where there is no such price.
        retires: the day the provider switches it off, "YYYY-MM-DD", where that is announced.
    """

    name: str
    provider: str
    api: str
    window: int
    max_output: int
    encoding: str | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    retires: str | None = None


@dataclass(frozen=True, slots=True)
class ModelTable:
    """All models, and where the facts come from. ``date`` is "YYYY-MM-DD"."""

    source: str
    date: str
    models: tuple[Model, ...]


@cache
def model_table() -> ModelTable:
    """``resources/models.json``, built by ``packaging/build_models.py``."""
    document = json.loads(resource("models.json").read_text("utf-8"))
    models = tuple(Model(**row) for row in document["models"])
    return ModelTable(document["source"], document["date"], models)


def load_models() -> tuple[Model, ...]:
    """All models, by provider."""
    return model_table().models


_LONG_WINDOW = re.compile(r"\[1m\]$")

# What stands around a name: the version and date of a snapshot, a marker of a gateway.
_SUFFIXES = (
    re.compile(r":(?:thinking|beta|free|extended|online|nitro|floor|exacto|latest)$"),
    re.compile(r"(?:-v\d+)?:\d+$"),
    re.compile(r"-v\d+$"),
    re.compile(r"[@-](?:latest|default)$"),
    re.compile(r"[@-](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{4})$"),
    re.compile(r"-(?:preview|exp)$"),
)
_PREFIX = re.compile(r"^(?:[a-z-]{2,12}\.)?(?:anthropic|openai|google|mistral|deepseek|xai)\.")
_FINE_TUNED = re.compile(r"^ft:([^:]+)")


@cache
def _by_name() -> dict[str, Model]:
    return {_plain(model.name): model for model in load_models()}


@lru_cache(maxsize=1024)
def find_model(name: str) -> Model | None:
    """The model that ``name`` means, or None.

    Takes names as logs and gateways write them: "anthropic/claude-sonnet-4.5",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "gpt-4o-2024-08-06", "ft:gpt-4o:org::id". The
    mark "[1m]" of Claude Code sets the window to 1,000,000 tokens.
    """
    text = name.strip().lower()
    long_window = _LONG_WINDOW.search(text) is not None
    known = _by_name()
    for candidate in _candidates(_LONG_WINDOW.sub("", text)):
        model = known.get(_plain(candidate))
        if model is not None:
            return replace(model, window=1_000_000) if long_window else model
    return None


def _candidates(text: str) -> Iterator[str]:
    """``text`` with ever more taken off around the name."""
    tuned = _FINE_TUNED.match(text)
    bare = tuned.group(1) if tuned else text
    bare = _PREFIX.sub("", bare.rpartition("/")[2])
    yield bare
    stripped = True
    while stripped:
        stripped = False
        for suffix in _SUFFIXES:
            shorter = suffix.sub("", bare)
            if shorter != bare:
                bare, stripped = shorter, True
                yield bare


def _plain(name: str) -> str:
    """Gateways write version 4-5 as 4.5."""
    return name.lower().replace(".", "-")
