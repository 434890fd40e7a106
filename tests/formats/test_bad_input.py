"""Bad files: one clear sentence that says what, where and what to do; odd ones open with a note."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stm_inspector.conversation.edit import Edit
from stm_inspector.conversation.errors import InputError
from stm_inspector.formats import open_file, write
from stm_inspector.formats.document import MAX_BYTES

from .helpers import lines, loaded, opened, texts

HELLO = {"role": "user", "content": "hello"}
BODY = {"model": "gpt-4o", "messages": [HELLO]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"hello there\nworld\n", "is not JSON: expecting value (line 1, column 1)"),
        (b"SQLite format 3\0" + bytes(90), "is a damaged SQLite database"),
        (b"PK\x03\x04" + bytes(90), "is a damaged zip archive"),
        (bytes(range(256)) * 8, "is a binary file"),
        (b"[" * 500 + b"]" * 500, "a list of 1 element, the first of them a list"),
        (b"12", "holds no JSON object or list"),
        (b"null", "holds no JSON object or list"),
        (b"{}", "an empty object"),
        (b"[]", "a conversation without messages"),
        (b'{"name": "x", "version": 3}', "an object with the keys 'name', 'version'"),
        (b'[1, "two", {"three": 3}]', "a list of 3 elements, the first of them no object"),
        (b'{"messages": [], "model": "gpt-4o"}', "a conversation without messages"),
        (b'{"messages": [], "tools": [{"function": {"name": "f"}}]}', "without messages"),
        (b'{"messages": [{"from": "human", "said": "x"}]}', "no conversation that is known"),
        (b'{"chapters": [{"role": "user", "parts": [{"text": "x"}]}]}', "with the keys 'chapters'"),
        (
            b'[{"role": "user", "pieces": [{"text": "x"}]}]',
            "a list of 1 element, the first of them an object",
        ),
        (b'{"messages": [{"role": "user", "content": "x"', "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'{"request":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
    ],
)
def test_refused_in_one_sentence(data: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        opened(data, tmp_path).load()
    sentence = str(refusal.value)
    assert said in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400


def test_refusal_says_how_to_choose_a_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no conversation that is known here"):
        opened(b'{"a": 1}', tmp_path)


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder: open one of the files in it"):
        open_file(tmp_path)


def test_file_that_vanished(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        open_file(tmp_path / "gone.json")


def test_name_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="could not be read"):
        open_file("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        open_file(tmp_path / "pipe")


def test_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "closed.json"
    path.write_text(json.dumps(BODY))

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    # Changing the mode would not stop root, who runs the tests in a container.
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match="may not be read: change its permissions"):
        open_file(path)


def test_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=r"too large \(1.0 GiB; at most 1 GiB\)"):
        open_file(path)


def test_unknown_format_and_conversation(tmp_path: Path) -> None:
    recording = opened(BODY, tmp_path)
    with pytest.raises(InputError, match=r"There is no conversation 1 in file\.json"):
        recording.load(1)
    with pytest.raises(InputError, match="There is no format 'x': the formats are claude-code"):
        open_file(tmp_path / "file.json", "x")


def test_format_can_be_chosen(tmp_path: Path) -> None:
    opened({"model": "m", "messages": [HELLO]}, tmp_path)
    chosen = open_file(tmp_path / "file.json", "anthropic-messages")
    assert chosen.format == "anthropic-messages"
    assert "because you said so" in chosen.signature
    with pytest.raises(InputError, match="Claude Code session without messages"):
        open_file(tmp_path / "file.json", "claude-code")


def test_one_long_line(tmp_path: Path) -> None:
    body = json.dumps({"messages": [HELLO, {"role": "user", "content": "x y " * 2_000_000}]})
    conversation = loaded(body, tmp_path)
    assert len(conversation.messages[1].parts[0].text) == 8_000_000
    assert write(conversation, Edit(kept=[0, 1])) == body


def test_not_a_number_and_huge_numbers(tmp_path: Path) -> None:
    text = (
        '{"x": NaN, "y": ' + "9" * 5000 + ', "z": 1e999, "messages": '
        '[{"role": "user", "content": "hello", "n": -Infinity}]}'
    )
    conversation = loaded(text, tmp_path)
    assert "NaN or Infinity" in " ".join(conversation.origin.notes)
    assert write(conversation, Edit(kept=[0])) == text


def test_huge_number_in_a_broken_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not JSON"):
        opened('{"messages": [{"role": "user", "n": ' + "9" * 5000 + ", oops", tmp_path)


def test_number_in_the_place_of_a_text(tmp_path: Path) -> None:
    conversation = loaded('{"messages": [{"role": "user", "content": NaN}]}', tmp_path)
    assert conversation.messages[0].parts[0].kind == "opaque"


def test_byte_order_mark(tmp_path: Path) -> None:
    assert texts(loaded(b"\xef\xbb\xbf" + json.dumps(BODY).encode(), tmp_path)) == ["hello"]
    assert texts(loaded(json.dumps(BODY).encode("utf-16"), tmp_path)) == ["hello"]


def test_bytes_that_are_not_utf8_are_counted(tmp_path: Path) -> None:
    conversation = loaded(b'{"messages": [{"role": "user", "content": "a\xff\xfeb"}]}', tmp_path)
    assert texts(conversation) == ["a\ufffd\ufffdb"]
    assert "not valid UTF-8: 2 places" in " ".join(conversation.origin.notes)


def test_line_separators_inside_a_text_do_not_split_it(tmp_path: Path) -> None:
    body = {"messages": [{"role": "user", "content": "a\u2028b\u0085c\u2029d"}]}
    text = json.dumps(body, ensure_ascii=False) + "\n" + json.dumps(BODY) + "\n"
    recording = opened(text, tmp_path)
    assert len(recording.entries) == 2
    assert texts(recording.load(0)) == ["a\u2028b\u0085c\u2029d"]


def test_glued_records(tmp_path: Path) -> None:
    recording = opened(json.dumps(BODY) + json.dumps(BODY) + "\n" + json.dumps(BODY), tmp_path)
    assert len(recording.entries) == 3
    assert "same line as the one before them: 1" in " ".join(recording.load().origin.notes)


def test_cut_and_broken_lines_are_counted(tmp_path: Path) -> None:
    good = json.dumps(BODY)
    text = f"{good}\nnot json\n{good}\n\n{good[:30]}"
    recording = opened(text, tmp_path)
    assert len(recording.entries) == 2
    assert [skip.line for skip in recording.load().origin.skipped] == [2, 5]


def test_broken_first_line(tmp_path: Path) -> None:
    good = json.dumps(BODY)
    recording = opened(f"{good[10:]}\n{good[:-3]}\n{good}\n", tmp_path)
    assert len(recording.entries) == 1
    assert [skip.line for skip in recording.load().origin.skipped] == [1, 2]


def test_nul_bytes_of_a_crash(tmp_path: Path) -> None:
    good = json.dumps(BODY).encode()
    recording = opened(good + b"\n" + bytes(4096) + good + b"\n", tmp_path)
    assert len(recording.entries) == 2
    assert "NUL" in " ".join(recording.load().origin.notes)


@pytest.mark.parametrize("indent", [None, 2])
def test_cut_file_keeps_the_messages_before_the_cut(indent: int | None, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"message {n}"} for n in range(5)]
    whole = json.dumps({"model": "m", "messages": messages}, indent=indent)
    text = whole[: whole.index("message 3")]
    conversation = loaded(text, tmp_path)
    assert texts(conversation) == ["message 0", "message 1", "message 2"]
    (skip,) = conversation.origin.skipped
    assert skip.line == text.count("\n") + 1
    assert "everything from here on is lost" in skip.reason
    body = json.loads(write(conversation, Edit(kept=[0, 2])))
    assert body == {"model": "m", "messages": [messages[0], messages[2]]}


def test_messages_that_are_none_are_named(tmp_path: Path) -> None:
    conversation = loaded({"messages": [HELLO, 7, {"content": "x"}, {"role": "bird"}]}, tmp_path)
    assert texts(conversation) == ["hello"]
    reasons = [skip.reason for skip in conversation.origin.skipped]
    assert reasons == [
        "messages[1] is no object",
        "messages[2] has no role",
        "messages[3] has no role that is known: 'bird'",
    ]


def test_message_a_line(tmp_path: Path) -> None:
    text = lines([HELLO, {"role": "assistant", "content": "hi"}])
    conversation = loaded(text, tmp_path)
    assert texts(conversation) == ["hello", "hi"]
    assert [message.line for message in conversation.messages] == [1, 2]
    assert not conversation.origin.notes
    assert write(conversation, Edit(kept=[1])) == text.splitlines(keepends=True)[1]


def test_keys_named_twice_are_looked_for_in_the_first_records_of_a_log(tmp_path: Path) -> None:
    good = b'{"role": "user", "content": "a"}\n'
    twice = b'{"role": "user", "content": "a", "content": "b"}\n'
    early = opened(good + twice + good * 300, tmp_path).load()
    assert any("name a key twice: 1" in note for note in early.origin.notes)
    late = opened(good * 300 + twice, tmp_path).load()
    assert not any("twice" in note for note in late.origin.notes)
    assert late.messages[-1].parts[0].text == "b"
