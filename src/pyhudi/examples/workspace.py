"""The folder that an example fills: recreated each time, and nobody else's."""

from __future__ import annotations

import shutil
from pathlib import Path


def recreate_folder(folder: Path, mark: str) -> bool:
    """Make an empty folder, in the place of one that an earlier run has marked; False when it is somebody else's.

    Args:
        folder: The folder.
        mark: Name of the file by which a program knows its own folder.
    """
    if folder.exists():
        if not (folder / mark).exists():
            return False
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / mark).touch()
    return True
