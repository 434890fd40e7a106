"""Counting the tokens of a text under an encoding, whatever the text is.

Text that spells a special token ("<|endoftext|>") is ordinary text here, as it is for the API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tiktoken

PIECE = 1 << 17
"""Characters that are encoded in one go. Longer texts are cut where no token can cross."""

_MAX_PIECE = 1 << 20
"""Characters after which a text is cut even where a token might have crossed the cut."""

_SAMPLE = 1 << 15
"""Characters at the head of such a stretch that are encoded for the whole of it: megabytes
without a space between letters are a dump of data, alike from end to end."""

_FALLBACK = 1 << 12
"""Characters in one go of a text that the encoder gave up on."""

# Both patterns end a run of letters at a space and join that space to the letters after it, so
# no token crosses the place between the first letter and the space.
_SEAM = re.compile("[A-Za-z](?= [A-Za-z])")


class Measured(NamedTuple):
    """Tokens of a text, and whether that is what the encoding gives for the whole of it."""

    tokens: int
    exact: bool


class Piece(NamedTuple):
    """A stretch of a text that can be encoded by itself.

    ``exact`` if its end is a seam; ``stands_for`` is how many characters its tokens are to be
    extrapolated to, 0 where it is the whole of the stretch.
    """

    text: str
    exact: bool
    stands_for: int = 0

    def tokens(self, measured: int) -> int:
        """The tokens of the whole stretch, given those of ``text``."""
        return measured * self.stands_for // len(self.text) if self.stands_for else measured


def pieces_of(text: str) -> Iterator[Piece]:
    """Cut a long text into pieces whose tokens add up to those of the whole.

    Where a stretch of ``_MAX_PIECE`` characters offers no place to cut, it is cut anyhow, and
    only a sample of it is encoded; such a piece is marked as not exact.
    """
    start, end = 0, len(text)
    while end - start > PIECE:
        seam = _SEAM.search(text, start + PIECE, min(end, start + _MAX_PIECE))
        if seam is None and end - start <= _MAX_PIECE:
            break
        if seam is None:
            cut = start + _MAX_PIECE
            yield Piece(text[start : start + _SAMPLE], exact=False, stands_for=_MAX_PIECE)
        else:
            cut = seam.end()
            yield Piece(text[start:cut], exact=True)
        start = cut
    yield Piece(text[start:] if start else text, True)


def measure_piece(encoding: tiktoken.Encoding, text: str) -> Measured:
    """Count one piece.

    Lone surrogates are counted as U+FFFD, and a run that overflows the encoder's stack (a
    million spaces) in short stretches; neither is exact.
    """
    try:
        return Measured(len(encoding.encode_ordinary(text)), text.isascii() or _is_valid(text))
    except BaseException as error:
        # What tiktoken's Rust side raises when its regex engine gives up is no Exception.
        if type(error).__name__ != "PanicException":
            raise
    if len(text) <= _FALLBACK:
        return Measured(len(text.encode("utf-8", "replace")) // 4 + 1, False)
    starts = range(0, len(text), _FALLBACK)
    parts = [measure_piece(encoding, text[at : at + _FALLBACK]).tokens for at in starts]
    return Measured(sum(parts), False)


def measure(encoding: tiktoken.Encoding, text: str) -> Measured:
    """Count a text of any length in the calling thread."""
    total, exact = 0, True
    for piece in pieces_of(text):
        measured = measure_piece(encoding, piece.text)
        total += piece.tokens(measured.tokens)
        exact = exact and piece.exact and measured.exact
    return Measured(total, exact)


def _is_valid(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
