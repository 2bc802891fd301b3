"""Files and folders for one pair of eyes: keys, kubeconfigs.

A file is written beside its place and then moved there, so that no program ever reads half of it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

FILE_MODE = 0o600
PUBLIC_MODE = 0o644
"""Of what lies beside a key and may be read by all: its certificate."""
FOLDER_MODE = 0o700


def write_private(
    path: Path, content: bytes, mode: int = FILE_MODE, *, replace: bool = True
) -> None:
    """Write a file that only its owner may read, in one step; its folder is made if need be.

    It is a new file of a name that is not known before: whatever another user put into the folder
    beforehand, a link or a file of theirs, is not written through. FileExistsError if there is one
    already that is not to be replaced, also one that was made meanwhile.
    """
    private_folder(path.parent)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with os.fdopen(os.open(beside, flags, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            beside.replace(path)
        else:
            os.link(beside, path)
            beside.unlink()
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner may enter; one that is there stays as it is."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return folder
