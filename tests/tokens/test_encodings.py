"""The bundled encodings are the published ones, and nothing is downloaded."""

from __future__ import annotations

import hashlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiktoken
from tiktoken_ext import openai_public

from stm_inspector import paths
from stm_inspector.tokens import encodings
from stm_inspector.tokens.encodings import ENCODINGS, encoding


@pytest.fixture
def _fresh_root() -> Iterator[None]:
    paths._root.cache_clear()
    yield
    paths._root.cache_clear()


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoding_is_built_as_tiktoken_builds_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes: list[str] = []

    def bundled(url: str, expected_hash: str) -> dict[bytes, int]:
        hashes.append(expected_hash)
        return {bytes([byte]): byte for byte in range(256)}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", bundled)
    arguments = getattr(openai_public, name)()
    recipe = encodings._RECIPES[name]
    assert recipe.pattern == arguments["pat_str"]
    assert recipe.special == arguments["special_tokens"]
    assert [recipe.sha256] == hashes
    data = paths.resource("encodings", f"{name}.tiktoken").read_bytes()
    assert hashlib.sha256(data).hexdigest() == recipe.sha256


# README of tiktoken, and the cookbook's table of comparisons.
@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("o200k_base", "hello world", [24912, 2375]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("o200k_base", "antidisestablishmentarianism", [493, 129901, 376, 160388, 21203, 2367]),
    ],
)
def test_published_tokens(name: str, text: str, tokens: list[int]) -> None:
    assert encoding(name).encode_ordinary(text) == tokens


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    encodings._build.cache_clear()
    assert encoding("cl100k_base").encode_ordinary("hi") == [6151]


def test_it_is_built_once() -> None:
    assert encoding("o200k_base") is encoding("o200k_base")


@pytest.mark.usefixtures("_fresh_root")
def test_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "resources" / "encodings"
    folder.mkdir(parents=True)
    (folder / "cl100k_base.tiktoken").write_bytes(b"IQ== 0\n")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    encodings._build.cache_clear()
    with pytest.raises(RuntimeError, match="not the published encoding"):
        encoding("cl100k_base")


@pytest.mark.usefixtures("_fresh_root")
def test_resources_are_found_in_a_frozen_program_and_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "stm_inspector"
    (package / "resources").mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(package / "paths.py"))
    assert paths.resource("a", "b") == package / "resources" / "a" / "b"
    paths._root.cache_clear()
    frozen = tmp_path / "frozen"
    (frozen / "resources").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(frozen), raising=False)
    assert paths.resource("a") == frozen / "resources" / "a"


@pytest.mark.usefixtures("_fresh_root")
def test_missing_resources_are_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "x" / "y" / "paths.py"))
    with pytest.raises(FileNotFoundError, match=r"resources are missing .*: reinstall it\.$"):
        paths.resource("a")
