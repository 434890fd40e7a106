"""Read a file into a conversation, against ``json.loads`` of the same bytes.

    python tests/benchmarks/bench_read.py [FILE ...]

Prints, for each file, the ratio of the two (to stay below 3): for finding the conversations, for
reading the one that is shown first as well, and for writing it again. Without FILE: the larger
recorded sessions where they are there, and synthetic chats of three sizes. Reading together with
counting is measured in ``bench_open.py``.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stm_inspector.conversation.edit import Edit
from stm_inspector.formats import open_file, write

SESSIONS = Path(__file__).resolve().parents[3] / "shared/samples/claude-code"
REPEATS = 5
WORDS = "the a file test error line value return function of in read write call result 42 {} == ( )"


def synthetic(folder: Path, messages: int) -> Path:
    """A conversation of ``messages`` messages of some 60 words, with tool calls."""
    chance = random.Random(messages)
    words = WORDS.split()

    def talk() -> str:
        return " ".join(chance.choices(words, k=60)) + str(chance.random())

    listed: list[dict[str, object]] = []
    while len(listed) < messages:
        id = f"call_{len(listed)}"
        function = {"name": "run", "arguments": json.dumps({"command": talk()})}
        calls = [{"id": id, "type": "function", "function": function}]
        listed += [
            {"role": "user", "content": talk()},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": id, "content": talk()},
            {"role": "assistant", "content": talk()},
        ]
    path = folder / f"synthetic-{messages}.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": listed}), encoding="utf-8")
    return path


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def decode(path: Path) -> object:
    """``json.loads`` of the file, or of each of its lines."""
    data = path.read_bytes()
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        return [json.loads(line) for line in data.split(b"\n") if line.strip()]


def main(paths: list[Path]) -> None:
    """Measure each file."""
    print(
        f"{'file':40} {'MB':>6} {'messages':>8} {'find':>6} {'read':>6} {'write':>6}  x json.loads"
    )
    for path in paths:
        conversation = open_file(path).load()
        kept = Edit(kept=range(len(conversation.messages)))
        loads = best(lambda path=path: decode(path))
        found = best(lambda path=path: open_file(path)) / loads
        read = best(lambda path=path: open_file(path).load()) / loads
        written = best(lambda of=conversation, kept=kept: write(of, kept)) / loads
        size = path.stat().st_size / 1e6
        shape = f"{path.name[:40]:40} {size:6.2f} {len(conversation.messages):8}"
        print(f"{shape} {found:6.2f} {read:6.2f} {written:6.2f}")


def recorded() -> list[Path]:
    """Recorded sessions of more than 2 MB, where they are there."""
    return sorted(path for path in SESSIONS.glob("*.jsonl") if path.stat().st_size > 2e6)


if __name__ == "__main__":
    named = [Path(argument) for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as made:
        main(named or recorded() + [synthetic(Path(made), n) for n in (1_000, 10_000, 100_000)])
