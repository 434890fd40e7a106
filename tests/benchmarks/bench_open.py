"""Open and count a file, against json.loads and tiktoken's own batch encoding of its texts.

    python tests/benchmarks/bench_open.py [FILE ...]

Prints, for each file, the ratio of the two with an empty cache (to stay below 1.3), and with the
counts in the cache. Without FILE: a recorded session of 3 MB where
it is there, and a synthetic chat of 20 MB. Both sides start with the encoding loaded.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from stm_inspector.formats import open_file
from stm_inspector.tokens import encoder
from stm_inspector.tokens.cache import Cache
from stm_inspector.tokens.counting import count
from stm_inspector.tokens.encodings import encoding
from stm_inspector.tokens.framing import framing_of
from stm_inspector.tokens.ledger import Ledger

SESSION = Path(__file__).resolve().parents[3] / "shared/samples/claude-code/spotter-4d5611e5.jsonl"
ROUNDS = 5


def main(files: list[Path]) -> None:
    """Measure each file."""
    encoding("o200k_base")
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            chat = Path(folder) / "synthetic chat of 20 MB.json"
            chat.write_text(json.dumps({"model": "gpt-4o", "messages": synthetic(20 << 20)}))
            files = [*([SESSION] if SESSION.is_file() else []), chat]
        for path in files:
            report(path, Path(folder))


def report(path: Path, folder: Path) -> None:
    """Print the ratios for one file. Rounds alternate, so that both sides see the same load."""
    texts = texts_of(path)
    caches = [Cache(folder / f"{path.name}-{number}.sqlite3") for number in range(ROUNDS)]
    theirs, ours = [], []
    for cache in caches:
        theirs.append(timed(lambda: reference(path, texts)))
        ours.append(timed(partial(open_and_count, path, cache)))
    again = [timed(partial(open_and_count, path, cache)) for cache in caches]
    parsed = [timed(lambda: parse(path)) for _ in range(ROUNDS)]
    opened = [timed(lambda: open_file(path).load()) for _ in range(ROUNDS)]
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {len(texts):,} different texts")
    for what, times in (
        ("json.loads", parsed),
        ("json.loads + encode_ordinary_batch", theirs),
        ("open", opened),
        ("open + count, empty cache", ours),
        ("open + count, from the cache", again),
    ):
        best = Times(*map(min, zip(*times, strict=True)))
        base = Times(*map(min, zip(*theirs, strict=True)))
        print(
            f"  {what:36}{best.wall:8.3f} s{best.processor:8.3f} s of processor;"
            f" ratio{best.wall / base.wall:6.2f},{best.processor / base.processor:6.2f}"
        )


def parse(path: Path) -> None:
    """Nothing but json.loads, a line or the whole."""
    data = path.read_text("utf-8")
    for piece in data.split("\n") if path.suffix == ".jsonl" else [data]:
        if piece.strip():
            json.loads(piece)


def reference(path: Path, texts: list[str]) -> None:
    """json.loads and tiktoken's own batch encoding of the texts that we count."""
    parse(path)
    encoding("o200k_base").encode_ordinary_batch(texts, num_threads=os.cpu_count() or 1)


def open_and_count(path: Path, cache: Cache) -> None:
    """What the app does, without what it remembers in memory."""
    encoder.forget()
    count(open_file(path).load(), "tiktoken:o200k_base", cache=cache)


def texts_of(path: Path) -> list[str]:
    """The different texts that are counted in the file."""
    conversation = open_file(path).load()
    framing = framing_of(conversation.api, "o200k_base", conversation.model)
    return Ledger(conversation.messages, framing, conversation.api, conversation.model).texts


def synthetic(size: int) -> list[dict[str, Any]]:
    """A chat of about ``size`` bytes of prose, code and JSON; the same every time."""
    chance = random.Random(2)
    words = ["the", "buffer", "keeps", "what", "fits", "and", "forgets", "because", "dear"]
    messages: list[dict[str, Any]] = []
    written = 0
    while written < size:
        kind = chance.randrange(3)
        number = chance.randrange(20, 400)
        if kind == 0:
            text = " ".join(chance.choices(words, k=number)) + "."
        elif kind == 1:
            text = "\n".join(
                f"    value_{n} = total[{n}] * {chance.random()}" for n in range(number // 8)
            )
        else:
            text = json.dumps({f"key{n}": chance.randrange(10**6) for n in range(number // 4)})
        messages.append({"role": "assistant" if len(messages) % 2 else "user", "content": text})
        written += len(text)
    return messages


class Times(NamedTuple):
    """Seconds by the clock, and of processor time: on a busy machine the second is steadier."""

    wall: float
    processor: float


def timed(work: Callable[[], object]) -> Times:
    """The times that ``work`` takes."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Times(time.perf_counter() - wall, time.process_time() - processor)


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
