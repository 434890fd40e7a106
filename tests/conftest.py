"""Shared by all tests: no display, no network, nothing of the user's own folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# No deadline: a test must not fail because the machine is busy.
settings.register_profile("stm", deadline=None, max_examples=60)
settings.load_profile("stm")

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "samples"
"""About 200 recorded conversations that may stand beside the project; not part of it."""


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and caches of a test go to a folder of its own."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture
def samples() -> Path:
    """The folder of recorded conversations; the test is skipped where it is absent."""
    if not SAMPLES.is_dir():
        pytest.skip(f"no folder of recorded conversations at {SAMPLES.name} beside the project")
    return SAMPLES
