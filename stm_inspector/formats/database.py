"""SQLite databases as one JSON value: every table with its rows.

The database is copied, with its write-ahead log, and the copy is read: opening the user's file
would leave files beside it, and without the log the newest rows would be missing.
"""

from __future__ import annotations

import base64
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from stm_inspector.conversation.errors import InputError
from stm_inspector.formats.rewrite import dumps

SIGNATURE = b"SQLite format 3\0"

KEY = "sqlite"
"""The member of the value that holds the tables."""

MAX_READ = 1 << 30
"""Bytes of all rows that are read."""

Row = dict[str, Any]


def is_database(data: bytes) -> bool:
    return data.startswith(SIGNATURE)


def json_of(path: Path) -> str:
    """The JSON text ``{"sqlite": {table: [row, ...]}}`` of the database at ``path``.

    Bytes in a row become ``{"base64": text}``. Search indexes are left out: they repeat the rows.

    Raises:
        InputError: it is damaged, locked, or larger than is allowed.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="stm-inspector-") as folder:
            copy = Path(folder, "copy.db")
            for suffix in ("", "-wal", "-shm"):
                beside = path.with_name(path.name + suffix)
                if beside.is_file():
                    shutil.copyfile(beside, f"{copy}{suffix}")
            with closing(sqlite3.connect(copy)) as connection:
                return dumps({KEY: _Reader(connection, path.name).tables()})
    except (sqlite3.Error, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise InputError(f"{path.name} is a damaged SQLite database: {reason}.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path.name} could not be copied to be read: {reason}.") from None


def tables(value: Any) -> dict[str, list[Row]]:
    """The tables of a record that was a database; none where it was something else."""
    found = value.get(KEY) if isinstance(value, dict) else None
    if not isinstance(found, dict):
        return {}
    return {
        name: [row for row in rows if isinstance(row, dict)]
        for name, rows in found.items()
        if isinstance(rows, list)
    }


class _Reader:
    """Reads tables until the limit is used up."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._left = MAX_READ
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        # Nothing that the file brings along is run.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")

    def tables(self) -> dict[str, list[Row]]:
        listed = self._connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
        ).fetchall()
        virtual = [name for name, sql in listed if str(sql).upper().startswith("CREATE VIRTUAL")]
        return {
            name: list(self._rows(name))
            for name, _ in listed
            if not name.startswith("sqlite_")
            and not any(name == one or name.startswith(f"{one}_") for one in virtual)
        }

    def _rows(self, table: str) -> Iterator[Row]:
        quoted = table.replace('"', '""')
        found = self._connection.execute(f'SELECT * FROM "{quoted}"')
        names = [column[0] for column in found.description]
        for row in found:
            self._left -= sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            if self._left < 0:
                limit = MAX_READ >> 30
                raise InputError(f"{self._name} holds more than {limit} GiB: it is not read.")
            yield dict(zip(names, map(_plain, row), strict=True))


def _plain(cell: Any) -> Any:
    return {"base64": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell
