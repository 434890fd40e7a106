"""Counting many texts: by content, from memory and disk, in threads, and whatever the texts are."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import chat, said

from stm_inspector.tokens import encoder
from stm_inspector.tokens.bpe import PIECE, measure, measure_piece, pieces_of
from stm_inspector.tokens.cache import Cache, default_path
from stm_inspector.tokens.counting import Cancelled, count
from stm_inspector.tokens.counts import Exactness
from stm_inspector.tokens.encoder import count_texts
from stm_inspector.tokens.encodings import ENCODINGS, encoding

O200K = "o200k_base"


def _texts(number: int, seed: int = 7) -> list[str]:
    chance = random.Random(seed)
    words = ["alpha", " beta", "\n", "42", " Größe", "日本", "{", '"key": ', "🙂", "    "]
    return [
        f"{index}:" + "".join(chance.choices(words, k=chance.randrange(1, 80)))
        for index in range(number)
    ]


def _reference(texts: list[str], name: str = O200K) -> list[int]:
    return [len(tokens) for tokens in encoding(name).encode_ordinary_batch(texts)]


@pytest.mark.parametrize("name", ENCODINGS)
def test_threads_give_what_one_thread_gives(name: str) -> None:
    texts = _texts(3000)
    assert count_texts(name, texts).tolist() == _reference(texts, name)


def test_a_text_is_encoded_once(encoded: list[str]) -> None:
    count(chat(*[said("the same words")] * 50, said("other words")))
    assert sorted(encoded) == ["other words", "the same words"]


def test_counting_again_comes_from_memory(encoded: list[str]) -> None:
    texts = _texts(500)
    first = count_texts(O200K, texts)
    del encoded[:]
    assert count_texts(O200K, texts).tolist() == first.tolist()
    assert encoded == []


def test_reopening_comes_from_the_disk(cache: Cache, encoded: list[str]) -> None:
    conversation = chat(*[said(text) for text in _texts(500)])
    first = count(conversation, cache=cache)
    encoder.forget()
    del encoded[:]
    again = count(conversation, cache=Cache(cache.path))
    assert encoded == []
    assert again.messages.tolist() == first.messages.tolist()
    assert again.exactness.tolist() == first.exactness.tolist()


def test_a_log_that_grew_is_encoded_at_its_end_only(cache: Cache, encoded: list[str]) -> None:
    texts = _texts(2000)
    count_texts(O200K, texts[:1900], cache=cache)
    encoder.forget()
    del encoded[:]
    assert count_texts(O200K, texts, cache=cache).tolist() == _reference(texts)
    assert set(texts[1900:]) <= set(encoded)
    assert len(encoded) < 500


def test_a_log_that_lost_its_beginning_is_encoded_there_only(
    cache: Cache, encoded: list[str]
) -> None:
    texts = _texts(2000)
    count_texts(O200K, texts, cache=cache)
    encoder.forget()
    del encoded[:]
    assert count_texts(O200K, texts[3:], cache=cache).tolist() == _reference(texts[3:])
    assert len(encoded) < 500


def test_encodings_do_not_share_counts(cache: Cache) -> None:
    texts = _texts(200)
    for name in ENCODINGS:
        assert count_texts(name, texts, cache=cache).tolist() == _reference(texts, name)


def test_inexact_counts_stay_so_when_they_come_from_the_disk(cache: Cache) -> None:
    conversation = chat(said("fine"), said("cut \ud83d emoji"))
    for _ in range(2):
        counts = count(conversation, cache=cache)
        assert [Exactness(value) for value in counts.exactness] == [0, Exactness.ESTIMATE]
        encoder.forget()


def test_progress_rises_to_all() -> None:
    seen: list[float] = []
    count_texts(O200K, ["word " * 20_000 + str(index) for index in range(20)], progress=seen.append)
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_cancelling_ends_soon_and_keeps_nothing(cache: Cache, encoded: list[str]) -> None:
    texts = [f"{index} " + "some words here " * 5_000 for index in range(200)]
    calls = iter(range(10_000))
    with pytest.raises(Cancelled):
        count_texts(O200K, texts, cache=cache, cancelled=lambda: next(calls) >= 1)
    assert len(encoded) < 200
    assert cache.get_many([run.key for run in encoder._runs(O200K, texts)]) == {}


def test_several_threads_may_count_at_once(cache: Cache) -> None:
    texts = _texts(800)
    results: list[list[int]] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(count_texts(O200K, texts, cache=cache).tolist())
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [_reference(texts)] * 4


def test_a_broken_cache_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "tokens.sqlite3"
    path.write_bytes(b"this is no database " * 500)
    cache = Cache(path)
    texts = _texts(50)
    assert count_texts(O200K, texts, cache=cache).tolist() == _reference(texts)
    assert "made anew" in cache.trouble
    encoder.forget()
    healed = Cache(path)
    assert healed.get_many([run.key for run in encoder._runs(O200K, texts)])
    assert healed.trouble == ""


def test_a_value_of_the_wrong_length_is_not_believed(cache: Cache) -> None:
    texts = _texts(50)
    cache.put_many({run.key: b"\1\0\0" for run in encoder._runs(O200K, texts)})
    assert count_texts(O200K, texts, cache=cache).tolist() == _reference(texts)


def test_without_a_writable_cache_counting_goes_on_and_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    counts = count(chat(said("hello")), cache=Cache(blocked / "tokens.sqlite3"))
    assert counts.parts.tolist() == [1]
    assert any("cannot be used" in note for note in counts.notes)


def test_a_locked_cache_is_passed_by(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put_many({b"k": b"v"})
    monkeypatch.setattr("stm_inspector.tokens.cache._PATIENCE", 0.01)
    other = sqlite3.connect(cache.path)
    try:
        other.execute("BEGIN EXCLUSIVE")
        cache.put_many({b"other": b"v"})
        assert "locked" in cache.trouble
    finally:
        other.rollback()
        other.close()


def test_processes_may_share_the_cache(cache: Cache) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from stm_inspector.tokens.cache import Cache; cache = Cache(Path(sys.argv[1]));"
        "[cache.put_many({f'{sys.argv[2]}-{n}'.encode(): b'v'}) for n in range(50)];"
        "sys.exit(cache.trouble or 0)"
    )
    root = Path(__file__).parents[2]
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(cache.path), str(child)], cwd=root)
        for child in range(3)
    ]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    keys = [f"{child}-{number}".encode() for child in range(3) for number in range(50)]
    assert len(cache.get_many(keys)) == 150


def test_the_cache_does_not_grow_without_bound(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "tokens.sqlite3", limit=10_000)
    for round_ in range(30):
        cache.put_many({f"{round_}-{number}".encode(): b"x" * 100 for number in range(20)})
    kept = [f"{round_}-{number}".encode() for round_ in range(30) for number in range(20)]
    assert 0 < len(cache.get_many(kept)) <= 100


def test_what_was_not_used_for_long_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "tokens.sqlite3", limit=1000)
    now = 1_800_000_000.0
    monkeypatch.setattr("stm_inspector.tokens.cache.time.time", lambda: now)
    cache.put_many({b"used": b"x" * 300})
    now += 60
    cache.put_many({b"unused": b"x" * 300})
    now += 2 * 86_400
    assert cache.get_many([b"used"])
    now += 60
    cache.put_many({b"new": b"x" * 410})
    assert sorted(cache.get_many([b"used", b"unused", b"new"])) == [b"new", b"used"]


def test_the_cache_lies_in_the_users_own_folder(tmp_path: Path) -> None:
    count(chat(said("hello")))
    assert default_path().is_file()
    assert "stm-inspector" in default_path().parts


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_counts_as_tiktoken_counts_it(text: str) -> None:
    for name in ENCODINGS:
        assert measure(encoding(name), text).tokens == len(encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "sentence",
    [
        "It isn't long, they're told; we'll see what I'd do. ",
        "def f(x):\n    return x  # a b c\n",
        "Die Größe x  y z des Übels 12345 ",
    ],
)
def test_a_long_text_is_cut_where_no_token_crosses(name: str, sentence: str) -> None:
    text = sentence * (3 * PIECE // len(sentence))
    pieces = list(pieces_of(text))
    assert len(pieces) > 1
    assert "".join(piece.text for piece in pieces) == text
    whole = len(encoding(name).encode_ordinary(text))
    assert measure(encoding(name), text) == (whole, True)
    assert count_texts(name, [text]).tolist() == [whole]


def test_megabytes_without_a_place_to_cut_are_extrapolated_and_not_exact() -> None:
    counted = count_texts(O200K, ["ab" * 1_500_000])
    per_sample = measure(encoding(O200K), "ab" * 50_000).tokens / 100_000
    assert counted[0] < 0
    assert abs(~int(counted[0]) / 3_000_000 - per_sample) < 0.02 * per_sample


def test_lone_surrogates_are_counted_and_not_exact() -> None:
    measured = measure(encoding(O200K), "half \udc00 pair")
    assert measured.tokens > 0
    assert not measured.exact


@pytest.mark.parametrize("run", ["a", "^", " ", "\n", "あ"])
def test_endless_runs_are_survived(run: str) -> None:
    measured = measure(encoding(O200K), run * 300_000)
    assert 300_000 // 130 <= measured.tokens <= 300_000


def test_a_text_that_overflows_the_encoder_is_an_estimate() -> None:
    spaces = " " * 1_000_000
    measured = measure_piece(encoding(O200K), spaces)
    assert not measured.exact
    known = len(encoding("cl100k_base").encode_ordinary(spaces))
    assert known / 2 < measured.tokens < known * 2
