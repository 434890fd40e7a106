"""Token counts of many texts: from memory, from the disk, or encoded in parallel.

Texts are looked up in runs of neighbours. Where a run ends depends on the texts themselves, so a
log that has grown, or lost its beginning, still finds all runs but those at the change.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stm_inspector.tokens.bpe import Piece, measure_piece, pieces_of
from stm_inspector.tokens.cache import Cache
from stm_inspector.tokens.encodings import encoding

_VERSION = b"2"
"""Part of every key; to be raised when the same text gives another count."""

_RUN_TEXTS = 32
"""Texts in a run, on average."""

_MEMORY = 4096
"""Runs that are kept in memory."""

_BATCH_CHARS = 1 << 15
_BATCH_TEXTS = 512

_AHEAD = 4
"""Jobs that are cut and handed out for each thread before the first of them is done."""

_PATIENCE = 0.05
"""Seconds between two looks at ``cancelled``."""

Counts = NDArray[np.int32]
"""Tokens of each text; ``~tokens`` where the number is not exact."""


class Cancelled(Exception):
    """Nobody wants the counts any more."""


class Job(NamedTuple):
    """Pieces of texts to encode together, each with the place of its text."""

    places: list[int]
    pieces: list[Piece]
    chars: int


_Done = tuple[list[int], list[int], list[bool]]
"""Of each piece of a job: the place of its text, its tokens, and whether they are exact."""


class _Run(NamedTuple):
    start: int
    end: int
    key: bytes


_memory: OrderedDict[bytes, bytes] = OrderedDict()
_memory_lock = Lock()


def count_texts(
    name: str,
    texts: Sequence[str],
    *,
    cache: Cache | None = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Counts:
    """Tokens of each of ``texts`` under the encoding ``name``: int32[n], see ``Counts``.

    ``progress`` is given the fraction done. Raises Cancelled soon after ``cancelled`` says so.
    """
    runs = list(_runs(name, texts))
    found = _remembered(runs)
    if cache is not None:
        found |= cache.get_many([run.key for run in runs if run.key not in found])
    counts = np.zeros(len(texts), dtype=np.int32)
    missing_runs = []
    for run in runs:
        stored = found.get(run.key, b"")
        if len(stored) == 4 * (run.end - run.start):
            counts[run.start : run.end] = np.frombuffer(stored, dtype="<i4")
        else:
            missing_runs.append(run)
    if missing_runs:
        places = [place for run in missing_runs for place in range(run.start, run.end)]
        _encode(name, texts, places, counts, progress, cancelled)
    fresh = {run.key: counts[run.start : run.end].astype("<i4").tobytes() for run in missing_runs}
    _remember(found | fresh)
    if cache is not None:
        cache.put_many(fresh)
    return counts


def forget() -> None:
    """Empty the memory (not the disk)."""
    with _memory_lock:
        _memory.clear()


def _runs(name: str, texts: Sequence[str]) -> Iterator[_Run]:
    """Cut ``texts`` into runs, each with the key that its content gives."""
    start, digest = 0, _digest(name)
    for place, text in enumerate(texts):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
        last = place + 1 == len(texts)
        if last or zlib.crc32(data[-64:], len(data)) % _RUN_TEXTS == 0:
            yield _Run(start, place + 1, digest.digest())
            start, digest = place + 1, _digest(name)


def _digest(name: str) -> hashlib.blake2b:
    return hashlib.blake2b(_VERSION + name.encode() + b"\0", digest_size=16)


def _remembered(runs: Sequence[_Run]) -> dict[bytes, bytes]:
    with _memory_lock:
        return {run.key: _memory[run.key] for run in runs if run.key in _memory}


def _remember(items: dict[bytes, bytes]) -> None:
    with _memory_lock:
        for key, value in items.items():
            _memory[key] = value
            _memory.move_to_end(key)
        while len(_memory) > _MEMORY:
            _memory.popitem(last=False)


def _encode(
    name: str,
    texts: Sequence[str],
    places: Sequence[int],
    counts: Counts,
    progress: Callable[[float], None] | None,
    cancelled: Callable[[], bool] | None,
) -> None:
    """Encode the texts at ``places`` in threads (the encoder lets go of the interpreter)."""
    encoding(name)
    total = sum(len(texts[place]) for place in places) or 1
    sums = np.zeros(len(texts), dtype=np.int64)
    exact = np.ones(len(texts), dtype=np.bool_)
    done = 0
    workers = os.cpu_count() or 1
    jobs = _jobs(texts, places)
    waiting: dict[Future[_Done], int] = {}
    pool = ThreadPoolExecutor(workers, thread_name_prefix="tokens")
    try:
        while True:
            for job in islice(jobs, workers * _AHEAD - len(waiting)):
                waiting[pool.submit(_do, name, job)] = job.chars
            if not waiting:
                break
            if cancelled is not None and cancelled():
                raise Cancelled
            finished, _ = wait(waiting, _PATIENCE, FIRST_COMPLETED)
            for future in finished:
                done += waiting.pop(future)
                finished_places, tokens, are_exact = future.result()
                np.add.at(sums, finished_places, tokens)
                np.logical_and.at(exact, finished_places, are_exact)
            if progress is not None and finished:
                progress(done / total)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    chosen = np.asarray(places, dtype=np.int64)
    counts[chosen] = np.where(exact, sums, ~sums)[chosen]


def _jobs(texts: Sequence[str], places: Sequence[int]) -> Iterator[Job]:
    """Join short texts and cut long ones into jobs of about ``_BATCH_CHARS`` characters."""
    owners: list[int] = []
    pieces: list[Piece] = []
    chars = 0
    for place in places:
        for piece in pieces_of(texts[place]):
            owners.append(place)
            pieces.append(piece)
            chars += piece.stands_for or len(piece.text)
            if chars >= _BATCH_CHARS or len(pieces) >= _BATCH_TEXTS:
                yield Job(owners, pieces, chars)
                owners, pieces, chars = [], [], 0
    if pieces:
        yield Job(owners, pieces, chars)


def _do(name: str, job: Job) -> _Done:
    encode = encoding(name)
    tokens: list[int] = []
    exact: list[bool] = []
    for piece in job.pieces:
        number, is_exact = measure_piece(encode, piece.text)
        tokens.append(piece.tokens(number))
        exact.append(piece.exact and is_exact)
    return job.places, tokens, exact
