"""Contrast and colour vision of both themes, and that a theme reaches every widget."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication

from stm_inspector.app import theme
from stm_inspector.app.theme import ZONE_FILLS, Theme

BOTH = [theme.light(), theme.dark()]


def linear(name: str) -> np.ndarray:
    """Red, green and blue as linear light."""
    colour = QColor(name)
    values = np.array([colour.redF(), colour.greenF(), colour.blueF()])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    light, dark = sorted((linear(one) @ weights, linear(other) @ weights), reverse=True)
    return float((light + 0.05) / (dark + 0.05))


# Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB.
DEFICIENCIES = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of linear RGB."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("look", BOTH, ids=lambda look: look.name)
class TestContrast:
    @pytest.mark.parametrize("level", ["text", "text_soft", "text_faint"])
    def test_text_on_every_surface(self, look: Theme, level: str) -> None:
        surfaces = ["background", "panel", "raised", "hover", "selection", "partner", "match"]
        for surface in surfaces:
            ratio = contrast(getattr(look, level), getattr(look, surface))
            assert ratio >= 4.5, (surface, ratio)

    @pytest.mark.parametrize(
        "word", ["evicted", "cleared", "truncated", "summarised", "pinned", "error", "warning"]
    )
    def test_verdicts_on_what_they_stand_on(self, look: Theme, word: str) -> None:
        for surface in ("background", "panel", "hover", "selection", "partner"):
            ratio = contrast(getattr(look, word), getattr(look, surface))
            assert ratio >= 4.5, (surface, ratio)

    def test_ghosted_text_on_the_hatch(self, look: Theme) -> None:
        """Thin lines cross it; even on them the text keeps the ratio of large text."""
        assert contrast(look.text_faint, look.hatch) >= 3

    def test_links_and_buttons(self, look: Theme) -> None:
        assert contrast(look.accent, look.background) >= 4.5
        assert contrast(look.on_accent, look.accent) >= 4.5
        assert contrast(look.on_accent, look.accent_hover) >= 4.5

    def test_what_is_no_text_but_must_be_seen(self, look: Theme) -> None:
        assert contrast(look.focus, look.background) >= 3
        for surface in (look.background, look.panel):
            assert contrast(look.watermark, surface) >= 3
            assert contrast(look.target, surface) >= 3
            for edge in look.zone_edges:
                assert contrast(edge, surface) >= 3

    def test_source_text(self, look: Theme) -> None:
        for name in Theme.__slots__:
            if name.startswith("syntax_"):
                assert contrast(getattr(look, name), look.background) >= 4.5, name


@pytest.mark.parametrize("deficiency", ["none", *DEFICIENCIES])
def test_zones_can_be_told_apart(deficiency: str) -> None:
    matrix = np.array(DEFICIENCIES.get(deficiency, np.eye(3)))
    seen = {fill: lab(matrix @ linear(fill)) for fill in set(ZONE_FILLS)}
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= 15, (one, other)


def test_words_on_zone_colours() -> None:
    """White on the system's blue, near-black on all others: as the budget bar writes them."""
    assert contrast("#ffffff", ZONE_FILLS[0]) >= 4.5
    for fill in ZONE_FILLS[1:]:
        assert contrast("#16191d", fill) >= 4.5


def test_a_theme_reaches_palette_style_and_font(qapp: QApplication) -> None:
    theme.apply(qapp, theme.dark())
    assert theme.current() is theme.dark()
    assert qapp.palette().window().color().name() == theme.dark().background
    assert theme.dark().accent in qapp.styleSheet()
    assert "@" not in qapp.styleSheet()
    theme.apply(qapp, theme.light())
    assert qapp.palette().window().color().name() == theme.light().background


def test_fonts_follow_the_system(qapp: QApplication) -> None:
    large = QFont(qapp.font())
    large.setPointSizeF(20)
    assert theme.make_fonts(large).ui.pointSizeF() == 20
    assert theme.make_fonts(large).mono.pointSizeF() > 15
    small = QFont(large)
    small.setPointSizeF(6)
    assert theme.make_fonts(small).ui.pointSizeF() >= 10
