"""The window as a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from stm_inspector.app.shot import shoot
from stm_inspector.buffer.budget import Budget
from stm_inspector.buffer.settings import Settings
from stm_inspector.conversation.errors import InputError


def test_the_picture_has_its_size_and_theme(qtbot: QtBot, chat: str, tmp_path: Path) -> None:
    lightness = {}
    for theme in ("light", "dark"):
        out = tmp_path / f"{theme}.png"
        settings = Settings(budget=Budget(fixed=150), pins=frozenset({3}))
        shoot(chat, str(out), size=(1100, 700), theme=theme, settings=settings, select=3)
        picture = QImage(str(out))
        assert (picture.width(), picture.height()) == (1100, 700)
        lightness[theme] = picture.pixelColor(1090, 400).lightness()
    assert lightness["dark"] < 90 < 200 < lightness["light"]


def test_another_budget_is_another_picture(qtbot: QtBot, chat: str, tmp_path: Path) -> None:
    pictures = []
    for tokens in (150, 100_000):
        out = tmp_path / f"{tokens}.png"
        shoot(chat, str(out), settings=Settings(budget=Budget(fixed=tokens)))
        pictures.append(QImage(str(out)))
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        ("", None),
        ("[1, 2]", None),
        ('[{"role": "user", "content": "a"}]', Settings(pins=frozenset({7}))),
        ('[{"role": "user", "content": "a"}]', Settings("no-such-policy")),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    qtbot: QtBot, tmp_path: Path, content: str, settings: Settings | None
) -> None:
    source = tmp_path / "source.json"
    source.write_text(content, "utf-8")
    with pytest.raises(InputError):
        shoot(str(source), str(tmp_path / "out.png"), settings=settings)
    assert not (tmp_path / "out.png").exists()


def test_a_place_that_cannot_be_written_is_one_sentence(
    qtbot: QtBot, chat: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        shoot(chat, str(tmp_path / "no such folder" / "out.png"))
