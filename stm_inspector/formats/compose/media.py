"""Pictures and documents on their way to a target."""

from __future__ import annotations

from stm_inspector.conversation.model import PartKind
from stm_inspector.formats.compose.entries import Piece
from stm_inspector.formats.compose.losses import Losses
from stm_inspector.formats.compose.payload import Payload, payload_of
from stm_inspector.formats.compose.target import texts_of

_USUAL = {PartKind.IMAGE: "image/png", PartKind.DOCUMENT: "application/pdf"}


def is_media(piece: Piece) -> bool:
    """Whether the piece is a picture or a document."""
    return piece.part.kind in _USUAL


def looked_up(piece: Piece, losses: Losses, *, addresses: bool = True) -> Payload | list[str]:
    """The data (or, if the target takes ``addresses``, the address) of a picture or document;
    the texts of a document that is made of text. An empty list where there is neither."""
    part = piece.part
    if part.kind is PartKind.DOCUMENT and (texts := texts_of(part)):
        losses.add("document", "written as plain text", piece.index)
        return texts
    payload = payload_of(part, _USUAL[part.kind])
    if payload is None:
        losses.add(f"{part.kind}", "left out: its data is not in the file", piece.index)
        return []
    if payload.url and not addresses:
        losses.add(f"{part.kind}", "left out: the target takes no addresses", piece.index)
        return []
    return payload
