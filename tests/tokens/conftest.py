"""Caches and a look at the encoder for the tests of the token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stm_inspector.tokens import encoder
from stm_inspector.tokens.bpe import Measured
from stm_inspector.tokens.cache import Cache


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache on disk of the test's own."""
    return Cache(tmp_path / "tokens.sqlite3")


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """No test sees what another one counted."""
    encoder.forget()
    yield
    encoder.forget()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are given to the encoder from here on."""
    seen: list[str] = []
    original: Callable[..., Measured] = encoder.measure_piece

    def watched(encoding: Any, piece: str) -> Measured:
        seen.append(piece)
        return original(encoding, piece)

    monkeypatch.setattr(encoder, "measure_piece", watched)
    return seen
