"""A message as text to read, and its colours."""

from __future__ import annotations

import base64
import json

import pytest
from pytestqt.qtbot import QtBot

from stm_inspector.app.content_view import LIMIT, ContentView
from stm_inspector.app.highlighting import compose, find_lexer, spans
from stm_inspector.app.parts_view import PartsView, thumbnail, token_text
from stm_inspector.app.rendering import Stretch, media_facts, pretty, stretches
from stm_inspector.conversation.model import Conversation, Media, Message, Part, PartKind, Role
from stm_inspector.tokens.counts import UNKNOWN, Exactness

NEVER = bool  # bool() is False: nobody cancels


def conversation(*messages: Message) -> Conversation:
    return Conversation("openai-chat", "openai-chat", messages)


def shown(*parts: Part) -> list[Stretch]:
    return stretches(conversation(Message(Role.USER, parts)), 0)


def coloured(text: str, look: str, lexer: str) -> dict[int, list[tuple[int, int, str]]]:
    return spans(compose([Stretch(text, look, lexer)], None), NEVER)


def test_arguments_are_indented_and_keep_their_order() -> None:
    part = Part(PartKind.TOOL_CALL, '{"b":1,"a":[1,2]}', name="run")
    (only,) = shown(part)
    assert only.text.startswith('{\n  "b": 1,\n  "a": [')
    assert only.lexer == "json"


@pytest.mark.parametrize("text", ["{broken", "", "[" * 100_000, "3"])
def test_arguments_that_are_no_json_stand_as_they_are(text: str) -> None:
    assert pretty(text) == text


def test_fences_are_code_of_their_language() -> None:
    text = "See:\n```python\nx = 1\n```\nand\n~~~\nplain\n```\n~~~\nend"
    looks = [(item.look, item.text) for item in shown(Part(PartKind.TEXT, text))]
    assert looks == [
        ("prose", "See:"),
        ("fence", "```python"),
        ("code", "x = 1"),
        ("fence", "```"),
        ("prose", "and"),
        ("fence", "~~~"),
        ("code", "plain\n```"),
        ("fence", "~~~"),
        ("prose", "end"),
    ]


def test_a_result_is_coloured_like_the_file_that_was_asked_for() -> None:
    call = Part(PartKind.TOOL_CALL, '{"path": "a/b.py"}', name="read", call_id="c")
    result = Part(PartKind.TOOL_RESULT, "def f(): pass", call_id="c")
    both = conversation(Message(Role.ASSISTANT, (call,)), Message(Role.TOOL, (result,)))
    (only,) = stretches(both, 1)
    assert only.lexer == "a/b.py"
    assert find_lexer(only.lexer) is not None
    assert ((0, 3, "keyword")) in coloured(only.text, "code", only.lexer)[0]


def test_hidden_content_is_never_shown_as_nothing() -> None:
    text = "\n".join(item.text for item in shown(Part(PartKind.THINKING, hidden="encrypted")))
    assert "Not in this file: encrypted" in text
    assert token_text(UNKNOWN, Exactness.EXACT) == "not in the file"


def test_control_and_direction_characters_are_visible() -> None:
    (only,) = shown(Part(PartKind.TEXT, "a\u202eb\x1b[31m\ud800"))
    assert "\u202e" not in only.text
    assert "\x1b" not in only.text
    only.text.encode("utf-8")


def test_a_message_without_parts_says_so() -> None:
    (only,) = shown()
    assert "no content" in only.text


def test_spans_count_as_qt_does() -> None:
    found = coloured('"😀", 12', "code", "json")
    assert found[0] == [(0, 4, "string"), (6, 2, "number")]


def test_an_unknown_language_stays_plain_and_is_never_guessed() -> None:
    assert find_lexer("no-such-language") is None
    assert coloured("import os", "code", "no-such-language") == {}


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    composed = compose([Stretch("x" * 80, "prose"), Stretch("y" * 80, "prose")], 100)
    assert composed.cut == 60
    assert len(composed.text) == 101
    assert compose([Stretch("x" * 80, "prose")], None).cut == 0


def test_the_rest_of_a_long_text_is_one_click_away(qtbot: QtBot) -> None:
    view = ContentView("Content")
    qtbot.addWidget(view)
    view.show()
    view.show_stretches([Stretch("line\n" * (LIMIT // 4), "prose")])
    cut = len(view.text.toPlainText())
    assert cut <= LIMIT
    assert view.rest.isVisible()
    view.rest.click()
    assert len(view.text.toPlainText()) > cut
    assert not view.rest.isVisible()
    qtbot.waitUntil(lambda: not view.busy)
    view.close_jobs()


def test_text_of_strangers_is_not_html(qtbot: QtBot) -> None:
    view = ContentView("Content")
    qtbot.addWidget(view)
    text = '<img src="file:///etc/passwd"><b>x</b> ![a](file:///etc/passwd)'
    view.show_stretches([Stretch(text, "prose")])
    assert view.text.toPlainText() == text
    qtbot.waitUntil(lambda: not view.busy)
    view.close_jobs()


def test_facts_of_media_never_invent_numbers() -> None:
    assert media_facts(Media("image/png", 800, 600)) == "image/png · 800 × 600 pixels"
    assert "never fetched" in media_facts(Media(url="https://example.org/a.png"))
    assert media_facts(Media()) == "The file says nothing about it."


def image(data: bytes, kind: PartKind = PartKind.IMAGE) -> Part:
    encoded = base64.b64encode(data).decode()
    return Part(kind, raw={"type": "image", "source": {"type": "base64", "data": encoded}})


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_a_small_picture_is_drawn_from_the_data_in_the_file(qtbot: QtBot) -> None:
    drawn = thumbnail(image(DOT))
    assert drawn is not None
    assert not drawn.isNull()


@pytest.mark.parametrize(
    "part",
    [
        image(b"no picture at all"),
        image(b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///x"/></svg>'),
        image(DOT[:20]),
        Part(PartKind.IMAGE, raw={"image_url": {"url": "https://example.org/a.png"}}),
        Part(PartKind.TEXT, raw={"source": {"data": base64.b64encode(DOT).decode()}}),
        Part(PartKind.IMAGE, raw=json.loads("[1]")),
    ],
)
def test_what_is_no_harmless_picture_is_not_decoded(qtbot: QtBot, part: Part) -> None:
    assert thumbnail(part) is None


def test_the_parts_view_lists_nested_parts(qtbot: QtBot) -> None:
    from stm_inspector.tokens.counting import count

    inner = Part(PartKind.TEXT, "inner text")
    talk = conversation(
        Message(Role.USER, (Part(PartKind.TOOL_RESULT, parts=(inner,)), Part(PartKind.TEXT, "b")))
    )
    view = PartsView()
    qtbot.addWidget(view)
    view.show_message(talk.messages[0], count(talk, "chars4"), 0)
    assert view.tree.topLevelItemCount() == 2
    first = view.tree.topLevelItem(0)
    assert first is not None
    assert first.childCount() == 1
    assert "estimate" in first.text(1)
