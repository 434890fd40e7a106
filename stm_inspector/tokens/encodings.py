"""OpenAI's encodings from the bundled ranks. Nothing is ever downloaded.

``tiktoken.get_encoding`` fetches the ranks on first use, so the encodings are built here from
files that ship with the app. Patterns and special tokens are those of tiktoken's own
``tiktoken_ext.openai_public``, and the hashes are the ones that it checks (tiktoken 0.14, MIT).
"""

from __future__ import annotations

import hashlib
import threading
from binascii import a2b_base64
from dataclasses import dataclass
from functools import cache

import tiktoken

from stm_inspector.paths import resource


@dataclass(frozen=True, slots=True)
class _Recipe:
    sha256: str
    pattern: str
    special: dict[str, int]


_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"

_RECIPES = {
    "o200k_base": _Recipe(
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "|".join(
            (
                f"{_LEAD}{_UPPER}*{_LOWER}+{_CONTRACTION}",
                f"{_LEAD}{_UPPER}+{_LOWER}*{_CONTRACTION}",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
        {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
    "cl100k_base": _Recipe(
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "|".join(
            (
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            )
        ),
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
}

ENCODINGS = tuple(_RECIPES)
"""Names of the bundled encodings."""

_SLICE = 1 << 15
"""Bytes of ranks read in one go. The interpreter lets other threads run between slices only."""

_lock = threading.Lock()


def encoding(name: str) -> tiktoken.Encoding:
    """The encoding ``name``, built once; safe from any thread. The first call takes about 0.5 s.

    Raises KeyError for an encoding that is not bundled, and RuntimeError where the bundled
    file is not the published one.
    """
    with _lock:
        return _build(name)


@cache
def _build(name: str) -> tiktoken.Encoding:
    recipe = _RECIPES[name]
    path = resource("encodings", f"{name}.tiktoken")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != recipe.sha256:
        raise RuntimeError(f"{path} is not the published encoding {name}: reinstall the app.")
    return tiktoken.Encoding(
        name, pat_str=recipe.pattern, mergeable_ranks=_ranks(data), special_tokens=recipe.special
    )


def _ranks(data: bytes) -> dict[bytes, int]:
    """Token bytes -> rank, from lines "<base64> <rank>"."""
    result: dict[bytes, int] = {}
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _SLICE) + 1 or len(data)
        fields = data[start:end].split()
        result.update(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
        start = end
    return result
