"""Text of strangers made safe to look at: what does not show is shown by a visible mark.

Controls can move a terminal's cursor, bidirectional overrides can reorder what is read, tags and
zero-width characters can hide instructions, and a lone surrogate cannot even be printed.
"""

from __future__ import annotations

import re
import unicodedata

_NAMES = {
    0x00AD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x115F: "HCF",
    0x1160: "HJF",
    0x180E: "MVS",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2061: "FA",
    0x2062: "IT",
    0x2063: "IS",
    0x2064: "IP",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x3164: "HF",
    0xFEFF: "BOM",
    0xFFA0: "HHF",
}
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"
    + "".join(map(chr, _NAMES))
    + "\u206a-\u206f\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef]"
)
_JOINERS = "\u200c\u200d"


def visible(text: str, keep: str = "\n\t") -> str:
    """Replace control, bidirectional, zero-width and unpaired characters by visible marks.

    Characters in ``keep`` stay. Joiners stay where writing needs them: inside an emoji sequence
    and between letters of scripts that join. The rest becomes a control picture (␛) or a name in
    angle brackets (⟨RLO⟩).
    """

    def mark(match: re.Match[str]) -> str:
        character = match[0]
        if character in keep or (character in _JOINERS and _joins(text, match.start())):
            return character
        return _mark(ord(character))

    return _HIDDEN.sub(mark, text)


def _joins(text: str, place: int) -> bool:
    """A joiner at ``place`` stands between two emoji, or between two letters without case."""
    if not 0 < place < len(text) - 1:
        return False
    before, after = unicodedata.category(text[place - 1]), unicodedata.category(text[place + 1])
    if after == "So":
        return before in ("So", "Sk", "Mn")
    return before in ("Lo", "Mn", "Mc") and after in ("Lo", "Mn", "Mc")


def _mark(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code in _NAMES:
        return f"⟨{_NAMES[code]}⟩"
    if 0xE0020 <= code <= 0xE007E:
        return f"⟨tag {chr(code - 0xE0000)}⟩"
    return f"⟨U+{code:04X}⟩"
