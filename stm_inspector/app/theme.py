"""All colours and fonts of the window, light and dark, and their application to Qt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from stm_inspector.app.stylesheet import stylesheet

ZONE_FILLS = ("#0072b2", "#d55e00", "#56b4e9", "#9aa0a8", "#e69f00", "#e69f00")
"""Okabe and Ito's colours, which stay apart under the three colour-vision deficiencies.

By ``Zone``; tail and current share one, the current turn is told apart by its bar and bold text.
"""


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour the window uses, as "#rrggbb".

    Attributes:
        name: "light" or "dark".
        background: of lists and text; ``panel`` of bars and side panels; ``raised`` of chips and
            badges; ``hover`` and ``pressed`` of buttons.
        line: hairlines; ``line_strong``: outlines of controls, at least 3:1 where it is all
            that shows a control.
        text, text_soft, text_faint: three levels, each at least 4.5:1 on every surface it is
            drawn on.
        accent: links, the primary button, selection marks; ``on_accent``: text on it.
        selection: behind the selected block; ``partner``: behind the rest of its lock group;
            ``match``: behind search hits.
        focus: the focus ring, at least 3:1.
        hatch: lines over what is not sent; ``reserve``: lines over reserved tokens;
            ``share``: the line under a token number,
            ``share_lost``: its part that is not sent.
        zone_edges: outlines that give each zone colour 3:1 on the background.
        evicted, cleared, truncated, summarised, pinned: words and glyphs of the verdicts.
        error, warning: of problems.
        watermark, target: the marks on the budget bar.
        syntax_*: of highlighted source text.
    """

    name: str
    background: str
    panel: str
    raised: str
    hover: str
    pressed: str
    line: str
    line_strong: str
    text: str
    text_soft: str
    text_faint: str
    accent: str
    accent_hover: str
    on_accent: str
    selection: str
    partner: str
    match: str
    focus: str
    hatch: str
    reserve: str
    share: str
    share_lost: str
    zone_edges: tuple[str, ...]
    evicted: str
    cleared: str
    truncated: str
    summarised: str
    pinned: str
    error: str
    warning: str
    watermark: str
    target: str
    syntax_keyword: str
    syntax_string: str
    syntax_number: str
    syntax_comment: str
    syntax_name: str
    syntax_function: str
    syntax_operator: str
    syntax_error: str

    @property
    def dark(self) -> bool:
        """Light text on a dark ground."""
        return self.name == "dark"

    def zone(self, zone: int) -> QColor:
        """The fill of a zone."""
        return QColor(ZONE_FILLS[zone])

    def zone_edge(self, zone: int) -> QColor:
        """The outline of a zone."""
        return QColor(self.zone_edges[zone])

    def verdict(self, verdict: int) -> QColor:
        """The colour of a verdict's glyph and word."""
        words = (self.text_soft, self.evicted, self.cleared, self.truncated, self.summarised)
        return QColor(words[verdict])


@cache
def light() -> Theme:
    """The light theme."""
    return Theme(
        name="light",
        background="#ffffff",
        panel="#f7f8fa",
        raised="#eceef1",
        hover="#f1f3f5",
        pressed="#e4e7eb",
        line="#e1e4e8",
        line_strong="#c8cdd4",
        text="#16191d",
        text_soft="#4f5762",
        text_faint="#5f6772",
        accent="#0b61b4",
        accent_hover="#0a539a",
        on_accent="#ffffff",
        selection="#dfecf9",
        partner="#f0f6fc",
        match="#fff1c2",
        focus="#0b61b4",
        hatch="#d3d8de",
        reserve="#c6cbd2",
        share="#8f98a4",
        share_lost="#d3d8de",
        zone_edges=("#005a8e", "#b04d00", "#2a86bd", "#777e88", "#a87400", "#a87400"),
        evicted="#b5330a",
        cleared="#765600",
        truncated="#7a3f9d",
        summarised="#0b61b4",
        pinned="#16191d",
        error="#b5330a",
        warning="#8a6100",
        watermark="#c25400",
        target="#59616c",
        syntax_keyword="#8a1fb3",
        syntax_string="#2f7310",
        syntax_number="#a14a00",
        syntax_comment="#66707a",
        syntax_name="#16191d",
        syntax_function="#0b61b4",
        syntax_operator="#4a515b",
        syntax_error="#b5330a",
    )


@cache
def dark() -> Theme:
    """The dark theme."""
    return Theme(
        name="dark",
        background="#24272c",
        panel="#1f2226",
        raised="#33373e",
        hover="#2e3238",
        pressed="#3a3f47",
        line="#363b42",
        line_strong="#4d545e",
        text="#eceef1",
        text_soft="#bac1cb",
        text_faint="#a3abb6",
        accent="#6cb0f3",
        accent_hover="#8ac1f7",
        on_accent="#10151b",
        selection="#293d54",
        partner="#2a323c",
        match="#453d1e",
        focus="#6cb0f3",
        hatch="#3f454d",
        reserve="#4d545e",
        share="#8a93a0",
        share_lost="#4d545e",
        zone_edges=("#3a9ad9", "#ee7a24", "#8dcbf1", "#c0c5cc", "#f5b93c", "#f5b93c"),
        evicted="#ff9d6e",
        cleared="#e3c04d",
        truncated="#d3a6ef",
        summarised="#6cb0f3",
        pinned="#eceef1",
        error="#ff9d6e",
        warning="#e3c04d",
        watermark="#f08a3c",
        target="#b0b7c1",
        syntax_keyword="#cf9cf2",
        syntax_string="#97d077",
        syntax_number="#f2b07a",
        syntax_comment="#9ba3ae",
        syntax_name="#eceef1",
        syntax_function="#6cb0f3",
        syntax_operator="#b0b7c1",
        syntax_error="#ff9d6e",
    )


def of(name: str) -> Theme:
    """The theme called ``name``: "light" or "dark"."""
    return {"light": light, "dark": dark}[name]()


@dataclass(frozen=True, slots=True)
class Fonts:
    """The fonts of the window; sizes follow the system's own font size.

    Figures are tabular in all of them wherever the font offers it, so that numbers line up.
    """

    ui: QFont
    bold: QFont
    small: QFont
    caps: QFont
    mono: QFont
    mono_small: QFont


_UI_FAMILIES = (
    "Inter",
    "Inter Variable",
    "Segoe UI",
    ".AppleSystemUIFont",
    "Cantarell",
    "Noto Sans",
    "Ubuntu",
    "DejaVu Sans Condensed",
    "DejaVu Sans",
)
_MONO_FAMILIES = (
    "JetBrains Mono",
    "Cascadia Mono",
    "SF Mono",
    "Menlo",
    "Consolas",
    "Noto Sans Mono",
    "Ubuntu Mono",
    "DejaVu Sans Mono",
)
_LEAST_POINTS = 10.0


def make_fonts(base: QFont) -> Fonts:
    """The fonts that go with the system font ``base``; needs a running application.

    A size of less than 10 points is taken as a platform without an opinion (offscreen and bare
    X say 9).
    """
    points = max(base.pointSizeF(), _LEAST_POINTS)
    ui = _font(_installed(_UI_FAMILIES, base.family()), points)
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    mono_family = _installed(_MONO_FAMILIES, fixed)
    caps = _font(ui.family(), points * 0.85, QFont.Weight.DemiBold)
    caps.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 106)
    return Fonts(
        ui=ui,
        bold=_font(ui.family(), points, QFont.Weight.DemiBold),
        small=_font(ui.family(), points * 0.9),
        caps=caps,
        mono=_font(mono_family, points * 0.95, mono=True),
        mono_small=_font(mono_family, points * 0.88, mono=True),
    )


def _installed(wanted: tuple[str, ...], otherwise: str) -> str:
    families = set(QFontDatabase.families())
    return next((family for family in wanted if family in families), otherwise)


def _font(
    family: str,
    points: float,
    weight: QFont.Weight = QFont.Weight.Normal,
    *,
    mono: bool = False,
) -> QFont:
    font = QFont(family)
    font.setPointSizeF(points)
    font.setWeight(weight)
    font.setStyleHint(QFont.StyleHint.Monospace if mono else QFont.StyleHint.SansSerif)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


@dataclass(slots=True)
class _Applied:
    theme: Theme
    system_font: QFont | None = None
    fonts: Fonts | None = None
    styled: bool = False


_applied = _Applied(light())


def current() -> Theme:
    """The theme that was applied last; the light one before that."""
    return _applied.theme


def fonts() -> Fonts:
    """The fonts in use; needs a running application."""
    if _applied.fonts is None:
        _applied.system_font = QFont(QApplication.font())
        _applied.fonts = make_fonts(_applied.system_font)
    return _applied.fonts


def apply(app: QApplication, theme: Theme) -> None:
    """Give the whole application ``theme``: style, palette, fonts and one style sheet.

    Every widget gets a ``PaletteChange`` and drops what it has cached.
    """
    _applied.theme = theme
    if not _applied.styled:  # asking the style for its name takes a tenth of a second
        app.setStyle("Fusion")
        _applied.styled = True
    app.setPalette(palette(theme))
    app.setFont(fonts().ui)
    app.setStyleSheet(stylesheet(theme))


def palette(theme: Theme) -> QPalette:
    """The palette of ``theme``, for what the style sheet does not reach."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    result = QPalette(QColor(theme.raised), QColor(theme.panel))
    colours = {
        role.Window: theme.background,
        role.WindowText: theme.text,
        role.Base: theme.background,
        role.AlternateBase: theme.panel,
        role.Text: theme.text,
        role.PlaceholderText: theme.text_faint,
        role.Button: theme.background,
        role.ButtonText: theme.text,
        role.BrightText: theme.error,
        role.ToolTipBase: theme.panel,
        role.ToolTipText: theme.text,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Light: theme.raised,
        role.Midlight: theme.line,
        role.Mid: theme.line_strong,
        role.Dark: theme.line_strong,
        role.Shadow: theme.line_strong,
    }
    for name, colour in colours.items():
        result.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(group.Disabled, name, QColor(theme.text_faint))
    return result
