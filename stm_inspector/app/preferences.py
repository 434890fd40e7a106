"""What the window remembers between two runs. Never keys, never anything of a conversation."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

VERSION = 1
"""Of the layout of the stored values; another version starts clean."""
RECENT_LIMIT = 10

_log = logging.getLogger(__name__)


class Preferences:
    """A small typed face of ``QSettings``; whatever is missing or damaged reads as unset."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the user's preferences, or those in the file ``path``."""
        if path is None:
            self._store = QSettings(
                QSettings.Format.IniFormat,
                QSettings.Scope.UserScope,
                "stm-inspector",
                "stm-inspector",
            )
        else:
            self._store = QSettings(str(path), QSettings.Format.IniFormat)
        if self._store.status() is not QSettings.Status.NoError or self._version() != VERSION:
            self._store.clear()
            self._store.setValue("version", VERSION)

    def _version(self) -> int:
        value = self._store.value("version")
        try:
            return int(str(value))
        except ValueError:
            return 0

    def sync(self) -> None:
        """Write everything to disk now."""
        self._store.sync()

    def geometry(self, name: str) -> QByteArray | None:
        """Saved geometry or splitter state of the widget called ``name``."""
        value = self._store.value(f"geometry/{name}")
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def set_geometry(self, name: str, state: QByteArray) -> None:
        """Save the geometry or splitter state of the widget called ``name``."""
        self._store.setValue(f"geometry/{name}", state)

    @property
    def theme(self) -> str:
        """ "system", "light" or "dark"."""
        value = str(self._store.value("theme", "system"))
        return value if value in ("system", "light", "dark") else "system"

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("theme", name)

    @property
    def folder(self) -> str:
        """The folder last opened from or exported to, or ""."""
        value = str(self._store.value("folder", ""))
        return value if value and Path(value).is_dir() else ""

    @folder.setter
    def folder(self, path: str) -> None:
        self._store.setValue("folder", path)

    @property
    def recent(self) -> tuple[str, ...]:
        """Paths of the files last opened, newest first; a file may be gone by now."""
        listed = self._json("recent")
        if not isinstance(listed, list):
            return ()
        return tuple(path for path in listed if isinstance(path, str))[:RECENT_LIMIT]

    @recent.setter
    def recent(self, paths: Sequence[str]) -> None:
        self._store.setValue("recent", json.dumps(list(paths)[:RECENT_LIMIT]))

    def add_recent(self, path: str) -> None:
        """Put ``path`` first in the list of recent files."""
        self.recent = [path, *(other for other in self.recent if other != path)]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The plan settings last used, as plain JSON values, or an empty mapping."""
        stored = self._json("settings")
        return stored if isinstance(stored, dict) else {}

    @settings.setter
    def settings(self, values: Mapping[str, Any]) -> None:
        self._store.setValue("settings", json.dumps(dict(values)))

    def _json(self, key: str) -> Any:
        text = self._store.value(key)
        if text is None:
            return None
        try:
            return json.loads(str(text))
        except ValueError:
            _log.warning("the stored value of %s is damaged and was left out", key)
            return None
