"""Titles of blocks, and making hidden characters visible."""

from __future__ import annotations

import pytest

from stm_inspector.conversation.model import Media, Message, Part, PartKind, Role
from stm_inspector.conversation.titles import LONGEST, title_of
from stm_inspector.conversation.visible import visible

READ = Part(PartKind.TOOL_CALL, '{"path": "importer/reader.py", "limit": 5}', name="read_file")


def assistant(*parts: Part) -> Message:
    """An assistant message."""
    return Message(Role.ASSISTANT, parts)


def answer(text: str, **more: object) -> Message:
    """A tool message."""
    return Message(Role.TOOL, (Part(PartKind.TOOL_RESULT, text, **more),))  # type: ignore[arg-type]


class TestTitles:
    def test_text_gives_its_first_line_that_says_anything(self) -> None:
        message = assistant(Part(PartKind.TEXT, "\n  \n First   line\nsecond"), READ)
        assert title_of(message) == ((), "First line")

    def test_a_tag_alone_is_followed_by_what_it_is_about(self) -> None:
        text = '<documents>\n<document index="1">\n<source>docs/import.md</source>\nmore'
        assert title_of(assistant(Part(PartKind.TEXT, text))).text == "<documents> docs/import.md"
        assert title_of(assistant(Part(PartKind.TEXT, "<a>\n</a>"))).text == "<a>"
        assert title_of(assistant(Part(PartKind.TEXT, "<a> and text"))).text == "<a> and text"

    def test_calls_give_the_tool_and_the_argument_that_says_most(self) -> None:
        assert title_of(assistant(READ)) == (("read_file",), "importer/reader.py")
        twice = assistant(READ, Part(PartKind.TOOL_CALL, '{"command": "ls"}', name="bash"))
        assert title_of(twice) == (("read_file", "bash"), "importer/reader.py · ls")

    @pytest.mark.parametrize(
        ("path", "shown"),
        [
            ("/home/ada/code/shop/lib/cart/total.py", "…/cart/total.py"),
            ("C:\\\\code\\\\shop\\\\lib\\\\cart\\\\total.py", "…\\cart\\total.py"),
            ("lib/cart/total.py", "lib/cart/total.py"),
        ],
    )
    def test_long_paths_show_their_end(self, path: str, shown: str) -> None:
        call = Part(PartKind.TOOL_CALL, f'{{"file_path": "{path}"}}', name="Read")
        assert title_of(assistant(call)).text == shown

    @pytest.mark.parametrize(
        ("arguments", "hint"),
        [
            ('{"depth": 3, "thing": "value"}', "value"),
            ('{"n": 1}', '{"n": 1}'),
            ("{}", "called without arguments"),
            ("", "called without arguments"),
            ("not json", "not json"),
            ("[1, 2]", "[1, 2]"),
            ("[" * 100_000, "[" * LONGEST),
        ],
    )
    def test_odd_arguments(self, arguments: str, hint: str) -> None:
        call = Part(PartKind.TOOL_CALL, arguments, name="tool")
        assert title_of(assistant(call)) == (("tool",), hint)

    def test_results_show_what_was_asked_and_how_much_came(self) -> None:
        assert title_of(answer("a\n" * 812), (READ,)) == (
            ("read_file",),
            "importer/reader.py · 812 lines",
        )
        assert title_of(answer("2 hunks applied"), (READ,)).text == (
            "importer/reader.py → 2 hunks applied"
        )
        assert title_of(answer("no such file\nat all", is_error=True), (READ,)).text == (
            "importer/reader.py → error: no such file"
        )

    def test_results_without_their_call(self) -> None:
        assert title_of(answer("fine")) == (("tool",), "fine")
        assert title_of(answer("fine", name="bash"), (None,)) == (("bash",), "fine")
        assert title_of(answer("")) == (("tool",), "(empty)")

    def test_content_that_is_not_in_the_file_is_said(self) -> None:
        hidden = answer("", hidden="encrypted by the provider")
        assert title_of(hidden).text == "encrypted by the provider"

    def test_other_content(self) -> None:
        image = Part(PartKind.IMAGE, media=Media(width=1024, height=768))
        assert title_of(assistant(image)).text == "image 1,024 × 768"
        thinking = Part(PartKind.THINKING, "Let me see\nwell")
        assert title_of(assistant(thinking)).text == "thinking · Let me see"
        assert title_of(assistant()).text == "(empty)"
        tools = Message(Role.SYSTEM, (Part(PartKind.TOOL_DEFINITION, "{}", name="grep"),))
        assert title_of(tools).text == "Tool definitions · 1 tool · grep"

    def test_nothing_hidden_gets_into_a_title(self) -> None:
        message = assistant(Part(PartKind.TEXT, "a\x1b[31m\u202eb\u200bc" + "x" * 9_999_999))
        text = title_of(message).text
        assert text.startswith("a␛[31m⟨RLO⟩b⟨ZWSP⟩c")
        assert len(text) == LONGEST


class TestVisible:
    @pytest.mark.parametrize(
        ("hidden", "shown"),
        [
            ("a\x00b", "a␀b"),
            ("\x7f", "␡"),
            ("\x9b31m", "⟨U+009B⟩31m"),
            ("\u2066x\u2069", "⟨LRI⟩x⟨PDI⟩"),
            ("\ufeff", "⟨BOM⟩"),
            ("\U000e0041", "⟨tag A⟩"),
            ("\ud800", "⟨U+D800⟩"),
            ("a\u200db", "a⟨ZWJ⟩b"),
            ("\r", "␍"),
        ],
    )
    def test_marks(self, hidden: str, shown: str) -> None:
        assert visible(hidden) == shown

    @pytest.mark.parametrize(
        "fine",
        [
            "plain, ünïcödé, 中文, emoji 🙂 and a\ttab\n",
            "\U0001f469\u200d\U0001f4bb",  # woman technologist: joined emoji
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian with a non-joiner
        ],
    )
    def test_writing_stays_as_it_is(self, fine: str) -> None:
        assert visible(fine) == fine

    def test_line_breaks_can_be_marked_too(self) -> None:
        assert visible("a\nb\tc", keep="") == "a␊b␉c"

    def test_it_can_always_be_encoded(self) -> None:
        every = "".join(map(chr, [*range(0x300), *range(0xD7F0, 0xE010), *range(0xE0000, 0xE0200)]))
        visible(every).encode()
