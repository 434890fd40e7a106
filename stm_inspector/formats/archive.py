"""Zip archives of which the members together are one JSON value.

Members are read one by one, and never more of them than the limits allow, whatever their headers
say: a zip of a few kilobytes can hold terabytes.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zlib
from collections.abc import Iterable

from stm_inspector.conversation.errors import InputError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

SIGNATURE = b"PK\x03\x04"

MAX_MEMBERS = 50_000
MAX_UNPACKED = 1 << 30
"""Bytes of all members that are read, unpacked."""

_SAMPLE = re.compile(r"samples/[^/]+\.json")
_CHUNK = re.compile(r"samples/([^/]+)/(?:(sample)|(messages|events)/(\d+))\.json")
"""Of a sample that is written in pieces: its members, and runs of its messages and events."""


def is_zip(data: bytes) -> bool:
    return data.startswith(SIGNATURE)


def json_of(data: bytes, name: str) -> str:
    """The JSON text of the log that the members of a zip are, as Inspect would write it as one.

    Args:
        name: the file's, for the user.

    Raises:
        InputError: it is no zip, no such log, or it unpacks to more than is allowed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.namelist()
            if len(members) > MAX_MEMBERS:
                raise InputError(
                    f"{name} has {len(members):,} members (at most {MAX_MEMBERS:,}): unpack it."
                )
            head = next((m for m in ("header.json", "_journal/start.json") if m in members), None)
            if head is None:
                raise InputError(
                    f"{name} is a zip archive, but no log of Inspect: unpack it and open one of "
                    "the files in it."
                )
            return _Unpacker(archive, name).log(head, members)
    except (zipfile.BadZipFile, zlib.error, ZstdError, EOFError, NotImplementedError) as error:
        raise InputError(f"{name} is a damaged zip archive: {str(error)[:100]}.") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be unpacked: {str(error)[:100]}.") from None


class _Unpacker:
    """Reads members until the limit is used up."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._left = MAX_UNPACKED

    def log(self, head: str, members: Iterable[str]) -> str:
        """The header with the samples put into it."""
        text = self._read(head).strip()
        if not (text.startswith("{") and text.endswith("}")):
            raise InputError(f"{head} in {self._name} is no JSON object: it is damaged.")
        samples = [self._read(m) for m in members if _SAMPLE.fullmatch(m)]
        samples += self._in_pieces(members)
        gap = "," if text[1:-1].strip() else ""
        listed = ",\n".join(samples)
        return f'{text[:-1]}{gap}"samples": [{listed}]}}'

    def _in_pieces(self, members: Iterable[str]) -> Iterable[str]:
        pieces: dict[str, list[tuple[str, int, str]]] = {}
        for member in members:
            found = _CHUNK.fullmatch(member)
            if found:
                sample, whole, kind, place = found.groups()
                pieces.setdefault(sample, []).append((whole or kind, int(place or 0), member))
        for sample, its in pieces.items():
            lists: dict[str, list[object]] = {}
            text = "{}"
            for kind, _, member in sorted(its):
                read = self._read(member)
                if kind == "sample":
                    text = read
                else:
                    value = json.loads(read)
                    lists.setdefault(kind, []).extend(value if isinstance(value, list) else [value])
            value = json.loads(text)
            yield json.dumps({"id": sample, **(value if isinstance(value, dict) else {}), **lists})

    def _read(self, member: str) -> str:
        with self._archive.open(member) as stream:
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            limit = MAX_UNPACKED >> 20
            raise InputError(
                f"{self._name} unpacks to more than {limit:,} MiB: unpack it and open a part of it."
            )
        return data.decode("utf-8", "replace")
