"""What is remembered, and what becomes of it when it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray

from stm_inspector.app.choices import Choices, from_plain, to_plain
from stm_inspector.app.preferences import RECENT_LIMIT, Preferences
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.settings import Settings


def test_everything_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "preferences.ini"
    first = Preferences(file)
    first.theme = "dark"
    first.folder = str(tmp_path)
    first.set_geometry("window", QByteArray(b"abc"))
    choices = Choices(
        Settings("summary", {"keep_recent": 4}, Budget(window=32_000, fixed=900), target=0.5)
    )
    first.settings = to_plain(choices)
    first.sync()
    second = Preferences(file)
    assert second.theme == "dark"
    assert second.folder == str(tmp_path)
    assert second.geometry("window") == QByteArray(b"abc")
    restored = from_plain(second.settings)
    assert restored.settings.policy == "summary"
    assert restored.settings.options["keep_recent"] == 4
    assert restored.settings.budget == choices.settings.budget
    assert restored.settings.target == 0.5


def test_pins_and_marks_are_of_one_file_and_not_remembered() -> None:
    choices = Choices(Settings(pins=frozenset({3}), marks={2: True}))
    assert "pins" not in to_plain(choices)
    assert not from_plain(to_plain(choices)).settings.pins


def test_recent_files_are_few_and_newest_first(preferences: Preferences) -> None:
    for number in range(RECENT_LIMIT + 3):
        preferences.add_recent(f"/tmp/{number}.json")
    preferences.add_recent("/tmp/5.json")
    assert len(preferences.recent) == RECENT_LIMIT
    assert preferences.recent[:2] == ("/tmp/5.json", "/tmp/12.json")
    assert len(set(preferences.recent)) == RECENT_LIMIT


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe garbage \x01",
        b"[General]\nversion=999\ntheme=dark\n",
        b'[General]\nversion=1\nrecent="{not json"\nsettings="[1, 2"\ntheme=purple\n',
        b'[General]\nversion=1\nrecent="{}"\nsettings="[]"\n[geometry]\nwindow=7\n',
    ],
)
def test_a_damaged_file_reads_as_defaults(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "preferences.ini"
    file.write_bytes(content)
    preferences = Preferences(file)
    assert preferences.theme == "system"
    assert preferences.recent == ()
    assert preferences.geometry("window") is None
    assert from_plain(preferences.settings) == Choices()


@pytest.mark.parametrize(
    "stored",
    [
        {"policy": "gone"},
        {"policy": "summary", "options": {"keep_recent": "many"}},
        {"policy": "full", "budget": {"window": -5}},
        {"policy": "full", "budget": {"colour": 3}},
        {"policy": "full", "watermark": "high", "tail_turns": -1},
        {"policy": "full", "options": [1]},
    ],
)
def test_stored_settings_without_sense_become_defaults(stored: dict[str, object]) -> None:
    restored = from_plain(stored).settings
    assert restored.budget == Budget()
    assert restored.watermark is None
    assert restored.tail_turns == Settings().tail_turns
