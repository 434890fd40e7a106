"""Tool calls and their results: ids that every call has, results right behind their calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from stm_inspector.conversation.model import Part, PartKind, Role
from stm_inspector.conversation.pairing import Place, pair
from stm_inspector.formats.compose.entries import NO_CALL, Entry, Piece, messages_of
from stm_inspector.formats.compose.losses import Losses
from stm_inspector.formats.compose.target import Names, Rules, images_in, texts_of


def numbered(entries: Sequence[Entry], rules: Rules, losses: Losses) -> list[Entry]:
    """Number the calls; give call and result the same valid id and the same valid tool name."""
    messages = messages_of(entries)
    starts = [index for index, message in enumerate(messages) if message.by_person]
    pairs = pair(messages, starts)
    call_of = {link.result: link.call for link in pairs.links}
    naming = _Naming(rules, losses)
    pieces: dict[tuple[int, int], Piece] = {}
    # A log may hold the id with the result alone (Gemini CLI).
    ids = {call: _part(entries, result).call_id or "" for call, result in pairs.links}
    for place, piece in _pieces(entries):
        if piece.part.kind is PartKind.TOOL_CALL and not _is_own(piece, rules):
            pieces[place] = naming.call(piece, piece.part.call_id or ids.get(place, ""))
    for place, piece in _pieces(entries):
        if piece.part.kind is PartKind.TOOL_RESULT and not _is_own(piece, rules):
            call = pieces.get(call_of.get(place, (-1, -1)))
            pieces[place] = _answer(piece, call)
    if pairs.unanswered:
        for at, number in pairs.unanswered:
            losses.add(
                "tool call",
                "without a result: the target refuses a call that is not answered",
                entries[at].pieces[number].index,
            )
    return [
        replace(
            entry,
            pieces=tuple(pieces.get((at, n), piece) for n, piece in enumerate(entry.pieces)),
        )
        for at, entry in enumerate(entries)
    ]


def _pieces(entries: Sequence[Entry]) -> Iterator[tuple[tuple[int, int], Piece]]:
    for at, entry in enumerate(entries):
        for number, piece in enumerate(entry.pieces):
            yield (at, number), piece


def _part(entries: Sequence[Entry], place: Place) -> Part:
    return entries[place[0]].pieces[place[1]].part


def _is_own(piece: Piece, rules: Rules) -> bool:
    return rules.is_own is not None and piece.part.server and rules.is_own(piece.part)


class _Naming:
    """Hands out call numbers, ids and tool names."""

    def __init__(self, rules: Rules, losses: Losses) -> None:
        self._rules = rules
        self._losses = losses
        self._used: set[str] = set()
        self._calls = 0

    def call(self, piece: Piece, id: str) -> Piece:
        """The call with its number, a valid id and a valid name."""
        part, number = piece.part, self._calls
        self._calls += 1
        if part.server:
            self._losses.add(
                "call", "of a tool that the provider ran: written as a client's", piece.index
            )
        name = part.name or "tool"
        if not self._rules.tool_names.fits(name):
            name = self._rules.tool_names.fitted(name)
            self._losses.add(
                "tool name", f"changed to what the target allows ({name})", piece.index
            )
        call_id = self._id(id, number, piece.index)
        return Piece(
            structs.replace(part, call_id=call_id, name=name, server=False), piece.index, number
        )

    def _id(self, id: str, number: int, index: int | None) -> str | None:
        allowed = self._rules.ids
        if allowed is None:
            return id or None
        if not id:
            self._losses.add("call", "without an id: numbered", index)
            return self._free(f"call_{number}", allowed)
        fitted = id if allowed.fits(id) else allowed.fitted(id)
        if fitted != id:
            self._losses.add("call id", "changed to what the target allows", index)
        if fitted in self._used and self._rules.unique_ids:
            self._losses.add("call id", "used before: numbered", index)
            return self._free(fitted, allowed)
        self._used.add(fitted)
        return fitted

    def _free(self, id: str, allowed: Names) -> str:
        candidate, n = id, 1
        while candidate in self._used:
            n += 1
            end = f"_{n}"
            candidate = id[: allowed.longest - len(end)] + end
        self._used.add(candidate)
        return candidate


def _answer(piece: Piece, call: Piece | None) -> Piece:
    """The result with number, id and tool of the call it answers."""
    if call is None:
        return Piece(structs.replace(piece.part, server=False), piece.index)
    part = structs.replace(piece.part, call_id=call.part.call_id, name=call.part.name, server=False)
    return Piece(part, piece.index, call.call)


def placed(entries: Sequence[Entry], rules: Rules, losses: Losses) -> list[Entry]:
    """Each answer of the assistant, then the results of its calls, then what comes next.

    A message of the assistant that holds results (of the provider's tools) is parted behind
    them. Results without a call become text, unless the target takes them.
    """
    results: dict[int, Piece] = {}
    for _, piece in _pieces(entries):
        if piece.call != NO_CALL and piece.part.kind is PartKind.TOOL_RESULT:
            results.setdefault(piece.call, piece)
    order: list[Entry] = []
    for entry in entries:
        for part in _parted(entry, rules, losses):
            order.append(part)
            waiting = [
                results[piece.call]
                for piece in part.pieces
                if piece.part.kind is PartKind.TOOL_CALL and piece.call in results
            ]
            if waiting:
                order.append(Entry(Role.TOOL, tuple(waiting), waiting[0].index))
    _note_moves(entries, losses)
    for entry in order:
        for piece in entry.pieces:
            _note_result(piece, rules, losses)
    return order


def _parted(entry: Entry, rules: Rules, losses: Losses) -> Iterator[Entry]:
    """The entry without its answered results, in as many messages as that takes."""
    run: list[Piece] = []
    role = entry.role
    broken = not entry.pieces
    for piece in entry.pieces:
        if piece.part.kind is not PartKind.TOOL_RESULT or _is_own(piece, rules):
            if broken and run:
                yield replace(entry, pieces=tuple(run))
                run = []
            broken = False
            run.append(piece)
        elif piece.call != NO_CALL:
            broken = True
        elif rules.orphans and piece.part.call_id:
            if run:
                yield replace(entry, pieces=tuple(run))
                run = []
            yield Entry(Role.TOOL, (piece,), piece.index)
        else:
            losses.add("result", "without its call: written as text of the user", piece.index)
            plain = as_plain(piece)
            if role is Role.ASSISTANT:
                if run:
                    yield replace(entry, pieces=tuple(run))
                    run = []
                yield Entry(Role.USER, tuple(plain), piece.index)
            else:
                run += plain
                role = Role.USER
    if run or not entry.pieces:
        yield replace(entry, role=role, pieces=tuple(run))


def as_plain(piece: Piece) -> list[Piece]:
    """A result as text and pictures."""
    texts = [piece.with_text(text) for text in texts_of(piece.part) if text.strip()]
    return texts + [Piece(inner, piece.index) for inner in images_in(piece.part)]


def _note_result(piece: Piece, rules: Rules, losses: Losses) -> None:
    part = piece.part
    if part.kind is not PartKind.TOOL_RESULT or _is_own(piece, rules):
        return
    if part.hidden:
        losses.add("result", f"whose content is not in the file ({part.hidden})", piece.index)
    if part.is_error and not rules.errors:
        losses.add(
            "result", "that says the call failed: the target has no mark for it", piece.index
        )


def _note_moves(entries: Sequence[Entry], losses: Losses) -> None:
    """Tell of results that other talk stood before."""
    called_at: dict[int, int] = {}
    talk = 0
    for entry in entries:
        earlier = talk
        talk += any(piece.part.kind is not PartKind.TOOL_RESULT for piece in entry.pieces)
        for piece in entry.pieces:
            if piece.part.kind is PartKind.TOOL_CALL:
                called_at[piece.call] = talk
            elif (
                piece.part.kind is PartKind.TOOL_RESULT
                and called_at.get(piece.call, talk) < earlier
            ):
                losses.add("result", "moved right behind its call", piece.index)
