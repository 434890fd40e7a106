"""Where the app's own files are, however it was installed."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path


@cache
def _root() -> Path:
    """``resources``: beside a frozen program, inside the wheel, or beside the package.

    Raises FileNotFoundError where none of the three is there.
    """
    package = Path(__file__).resolve().parent
    frozen = getattr(sys, "_MEIPASS", None)  # set by PyInstaller's bootloader
    places = [Path(frozen) / "resources"] if frozen else []
    places += [package / "resources", package.parent / "resources"]
    for place in places:
        if place.is_dir():
            return place
    looked = ", ".join(str(place) for place in places)
    raise FileNotFoundError(f"The app's resources are missing (looked in {looked}): reinstall it.")


def resource(*parts: str) -> Path:
    """Path of a bundled file or folder: ``resource("encodings", "o200k_base.tiktoken")``.

    The file itself need not exist. Raises FileNotFoundError where ``resources`` is missing.
    """
    return _root().joinpath(*parts)
