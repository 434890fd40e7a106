"""Token counts kept on disk between runs, by content.

A small SQLite file. It may be deleted at any time; a broken one is made anew, and where none can
be written counting goes on without it. Several processes may use it at once.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import platformdirs

_SCHEMA = 1
_LIMIT = 16 << 20
"""Bytes of counts that are kept. The longest unused go first."""

_BATCH = 500
"""Keys in one query: below the least limit on variables that SQLite was ever built with."""

_DAY = 86_400
"""Seconds. The use of a value is noted once a day at most: reading should not write."""

_PATIENCE = 2.0
"""Seconds to wait for another process that writes."""

_Work = Callable[[sqlite3.Connection], None]


def default_path() -> Path:
    """Where the cache lies unless told otherwise."""
    return Path(platformdirs.user_cache_dir("stm-inspector", appauthor=False)) / "tokens.sqlite3"


class Cache:
    """Key (bytes) -> value (bytes), bounded in size. Safe to use from any thread.

    Attributes:
        trouble: why the cache could not be used or was made anew, one sentence, or "".
    """

    def __init__(self, path: Path | None = None, *, limit: int = _LIMIT) -> None:
        """Use the file at ``path`` (made on first use); ``limit`` in bytes of values."""
        self.path = path or default_path()
        self.trouble = ""
        self._limit = limit
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those ``keys`` that are in the cache."""
        found: dict[bytes, bytes] = {}
        now = int(time.time())

        def read(connection: sqlite3.Connection) -> None:
            stale: list[tuple[int, bytes]] = []
            for start in range(0, len(keys), _BATCH):
                some = keys[start : start + _BATCH]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT key, value, used FROM counts WHERE key IN ({marks})", some
                )
                for key, value, used in rows:
                    found[key] = value
                    if used < now - _DAY:
                        stale.append((now, key))
            if stale:
                connection.executemany("UPDATE counts SET used = ? WHERE key = ?", stale)

        if keys:
            self._run(read)
        return found

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep ``items``; drop the longest unused where the cache grows too large."""

        def write(connection: sqlite3.Connection) -> None:
            now = int(time.time())
            rows = [(key, value, len(value), now) for key, value in items.items()]
            connection.executemany(
                "INSERT OR REPLACE INTO counts (key, value, size, used) VALUES (?, ?, ?, ?)", rows
            )
            _evict(connection, self._limit)

        if items:
            self._run(write)

    def _run(self, work: _Work) -> None:
        """Do ``work`` in one transaction; on a broken file make it anew and do it once more."""
        with self._lock:
            try:
                self._transact(work)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, full, not writable
                    self.trouble = f"The token cache {self.path} cannot be used: {error}."
                    return
                self.trouble = f"The token cache {self.path} was broken and is made anew."
                self._remake(work)
            except OSError as error:
                self.trouble = f"The token cache {self.path} cannot be used: {error.strerror}."

    def _remake(self, work: _Work) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._transact(work)
        except (OSError, sqlite3.Error) as error:
            self.trouble = f"The token cache {self.path} cannot be made anew: {error}."

    def _transact(self, work: _Work) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            _prepare(connection)
            with connection:
                work(connection)
        finally:
            connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table; counts of another version of this file's layout are dropped."""
    # Nothing waits for the disk: what a power cut takes is only counted again.
    connection.execute("PRAGMA synchronous = OFF")
    if _version(connection) == _SCHEMA:
        return
    with suppress(sqlite3.OperationalError):  # a file system without shared memory
        connection.execute("PRAGMA journal_mode = WAL")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection) == _SCHEMA:  # another process was quicker
            return
        connection.execute("DROP TABLE IF EXISTS counts")
        connection.execute(
            "CREATE TABLE counts (key BLOB PRIMARY KEY, value BLOB NOT NULL,"
            " size INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID"
        )
        connection.execute(f"PRAGMA user_version = {_SCHEMA}")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _evict(connection: sqlite3.Connection, limit: int) -> None:
    (size,) = connection.execute("SELECT coalesce(sum(size), 0) FROM counts").fetchone()
    if size <= limit:
        return
    rows = connection.execute("SELECT key, size FROM counts ORDER BY used, key").fetchall()
    doomed = []
    for key, bytes_ in rows:
        if size <= limit * 3 // 4:
            break
        doomed.append((key,))
        size -= bytes_
    connection.executemany("DELETE FROM counts WHERE key = ?", doomed)
