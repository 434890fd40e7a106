"""The table of models, and names as logs and gateways write them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from stm_inspector.conversation.model import Media
from stm_inspector.tokens.claude import NEWER, OLDER, family_of, version_of
from stm_inspector.tokens.encodings import ENCODINGS
from stm_inspector.tokens.media import document_tokens, image_tokens
from stm_inspector.tokens.models import find_model, load_models, model_table

BUILDER = Path(__file__).parents[2] / "packaging" / "build_models.py"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4o-mini:latest", "gpt-4o-mini"),
        ("ft:gpt-4o-2024-08-06:acme::abc123", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("o3-mini-2025-01-31", "o3-mini"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("openrouter/anthropic/claude-haiku-4.5:thinking", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
    ],
)
def test_a_model_is_found_however_it_is_written(written: str, name: str) -> None:
    found = find_model(written)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", ["", "nonsense", "gpt-4o-nonsense", "claude", "[1m]"])
def test_what_is_no_known_model_is_not_guessed(name: str) -> None:
    assert find_model(name) is None


def test_claude_codes_mark_for_the_long_window() -> None:
    plain, long = find_model("claude-sonnet-4-5"), find_model("claude-sonnet-4-5-20250929[1m]")
    assert plain is not None
    assert long is not None
    assert (plain.window, long.window) == (200_000, 1_000_000)


def test_every_model_has_a_window_and_a_bundled_encoding_or_none() -> None:
    models = load_models()
    assert len({model.name for model in models}) == len(models) > 100
    for model in models:
        assert model.window > 0
        assert model.encoding is None or model.encoding in ENCODINGS
        assert find_model(model.name) == model


def test_the_table_names_its_source_and_date() -> None:
    assert "litellm" in model_table().source
    assert len(model_table().date) == len("2026-12-01")


def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_models", BUILDER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_builder_keeps_chat_models_and_drops_snapshots() -> None:
    facts = {"mode": "chat", "max_input_tokens": 1000, "max_output_tokens": 100}
    openai = {**facts, "litellm_provider": "openai", "input_cost_per_token": 2.5e-06}
    table = {
        "gpt-4o": openai,
        "gpt-4o-2024-08-06": openai,
        "gpt-4-0613": openai,
        "gpt-audio": openai,
        "gpt-99": openai,
        "somebody/else": {**facts, "litellm_provider": "unheard-of"},
        "gemini/gemini-9": {**facts, "litellm_provider": "gemini"},
    }
    rows = {row["name"]: row for row in _builder().select(table)}
    assert list(rows) == ["gpt-4-0613", "gpt-4o", "gpt-99", "gemini-9"]
    assert rows["gpt-4o"]["input"] == 2.5
    encodings = [row["encoding"] for row in rows.values()]
    assert encodings == ["cl100k_base", "o200k_base", None, None]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("claude-3-5-sonnet-20241022", (3, 5)),
        ("claude-3-opus-20240229", (3, 0)),
        ("claude-sonnet-4-20250514", (4, 0)),
        ("anthropic/claude-4.6-sonnet-20260217", (4, 6)),
        ("us.anthropic.claude-opus-4-7-v1:0", (4, 7)),
        ("claude-haiku-5-5", (5, 5)),
        ("claude-fable-5", (5, 0)),
        ("claude", (0, 0)),
        ("gpt-4o", None),
        (None, None),
    ],
)
def test_the_version_in_a_claude_models_name(
    name: str | None, version: tuple[int, int] | None
) -> None:
    assert version_of(name) == version


def test_the_tokenizer_changed_with_opus_4_7() -> None:
    assert family_of("claude-opus-4-6") is OLDER
    assert family_of("claude-opus-4-7") is NEWER
    assert family_of("claude-sonnet-5") is NEWER


# Sizes and tokens from OpenAI's "Images and vision" (1,024 px: 765; 2,048 x 4,096 px: 1,105;
# 1,800 x 2,400 px: 1,452 patches) and from Anthropic's "Vision" (1,920 x 1,080 px: 1,560 and
# 2,691; 3,840 x 2,160 px: 4,784; 1,000 x 1,000 px: 36 by 36 patches).
@pytest.mark.parametrize(
    ("api", "model", "width", "height", "tokens"),
    [
        ("openai-chat", "gpt-4o", 1024, 1024, 765),
        ("openai-chat", "gpt-4o-2024-08-06", 2048, 4096, 1105),
        ("openai-chat", None, 10, 10, 255),
        ("openai-chat", "gpt-4.1-mini", 1800, 2400, 2353),
        ("openai-chat", "gpt-4.1-mini", 1024, 1024, 1659),
        ("anthropic-messages", "claude-sonnet-4-5", 1000, 1000, 36 * 36),
        ("anthropic-messages", "claude-sonnet-4-5", 1920, 1080, 1560),
        ("anthropic-messages", "claude-opus-4-7", 1920, 1080, 2691),
        ("anthropic-messages", "claude-opus-4-7", 3840, 2160, 4784),
        ("anthropic-messages", "claude-opus-4-7", 2160, 3840, 4784),
        ("anthropic-messages", None, 1, 1, 1),
        ("anthropic-messages", None, 8000, 1, 56),
    ],
)
def test_an_image_costs_what_the_provider_publishes(
    api: str, model: str | None, width: int, height: int, tokens: int
) -> None:
    assert image_tokens(Media(width=width, height=height), api, model) == tokens


def test_an_image_of_unknown_size_has_no_number_except_in_low_detail() -> None:
    assert image_tokens(None, "openai-chat", "gpt-4o") is None
    assert image_tokens(Media(url="https://example.org"), "anthropic-messages", None) is None
    assert image_tokens(Media(detail="low"), "openai-chat", "gpt-4o") == 85


def test_a_pdf_counts_by_its_pages() -> None:
    assert document_tokens(Media(pages=None)) is None
    one, two = document_tokens(Media(pages=1)), document_tokens(Media(pages=2))
    assert one is not None
    assert two == 2 * one
    assert one > 1500
