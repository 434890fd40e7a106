"""Facts, entities and topic changes, found by rules."""

from __future__ import annotations

from stm_inspector.conversation.model import Message, Part, PartKind, Role
from stm_inspector.summaries.entities import EntityKind, entities_of, list_of
from stm_inspector.summaries.facts import Fact, Topic, facts_of, merged, note_of
from stm_inspector.summaries.segments import topic_changes
from tests.talk import assistant, result, talk, tool, user


def test_a_person_states_facts_and_the_model_only_decisions() -> None:
    said = user("My name is Ada Lovelace. I prefer short answers. It must not exceed 3 pages.")
    assert facts_of(said) == (
        Fact(Topic.NAME, "Ada Lovelace"),
        Fact(Topic.PREFERENCE, "I prefer short answers."),
        Fact(Topic.CONSTRAINT, "It must not exceed 3 pages."),
    )
    answer = assistant("I prefer tea. We decided to use SQLite.")
    assert facts_of(answer) == (Fact(Topic.DECISION, "We decided to use SQLite."),)
    assert facts_of(tool(result("1", words="You must not."))) == ()
    injected = Message(Role.USER, (Part(PartKind.TEXT, "You must not."),), injected=True)
    assert facts_of(injected) == ()


def test_a_new_name_replaces_the_old_and_nothing_is_said_twice() -> None:
    rule = Fact(Topic.CONSTRAINT, "Never on Sundays.")
    facts = merged((Fact(Topic.NAME, "Ada"), rule), [rule, Fact(Topic.NAME, "Grace")])
    assert facts == (rule, Fact(Topic.NAME, "Grace"))
    assert note_of(facts, 9) == "[Facts so far]\nname: Grace\nconstraint: Never on Sundays."
    assert note_of(facts, 1) == "[Facts so far]\nname: Grace"
    assert note_of((), 9) == ""


def test_entities_are_found_by_kind_and_once() -> None:
    text = "See https://example.org/a for parse_line in src/app/main.py, said Grace Hopper: 12 ms."
    found = entities_of(user(text, text))
    assert found == (
        (EntityKind.URL, "https://example.org/a"),
        (EntityKind.IDENTIFIER, "parse_line"),
        (EntityKind.PATH, "src/app/main.py"),
        (EntityKind.NAME, "Grace Hopper"),
        (EntityKind.NUMBER, "12 ms"),
    )
    assert list_of(found, 2).splitlines() == [
        "[Mentioned earlier]",
        "names: Grace Hopper",
        "numbers: 12 ms",
        "… 3 more",
    ]
    assert list_of((), 5) == ""


def test_a_topic_changes_where_the_words_do_and_once_found_stays_found() -> None:
    cooking = ["Fry onions with garlic and butter", "More butter, garlic and onions"] * 6
    sailing = ["Hoist the sails, check wind and anchor", "Wind fills sails, raise the anchor"] * 6
    messages = [user(words) for words in (*cooking, *sailing)]
    ((first, known),) = topic_changes(talk(*messages), 0.4)
    assert first == 12
    assert known > first
    for length in range(len(messages) + 1):
        changes = topic_changes(talk(*messages[:length]), 0.4)
        assert [begin for begin, _ in changes] == ([12] if length >= known else [])
    assert topic_changes(talk(*messages[:12]), 0.4) == ()
