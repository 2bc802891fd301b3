"""The folder that a cluster is kept in: only its owner may enter it.

Below it are the objects, the keys, and the files of volumes: what pods write there has whatever
mode they like, and only the folder keeps other users out.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from stat import S_IMODE

from quintant.core.errors import ConfigError
from quintant.keys.private_files import FOLDER_MODE, private_folder

OTHERS = 0o077
"""What group and others may do."""
_log = logging.getLogger(__name__)


def claim_data_folder(folder: Path, own: str) -> None:
    """Make the folder, or see that only its owner may enter it.

    One that is ours, empty or with the file `own` in it, is closed to others, and that is told.
    ConfigError for one of somebody else, and for one that others may enter and that holds other
    things: closing that might lock out who uses them.
    """
    private_folder(folder)
    found = folder.stat()
    mode = S_IMODE(found.st_mode)
    if found.st_uid != os.getuid():
        raise _refused(folder, "it is somebody else's", "use another --data-dir")
    if not mode & OTHERS:
        return
    if not (folder / own).exists() and any(folder.iterdir()):
        why = f"other users may enter it (mode {mode:03o}), and it holds other files"
        raise _refused(folder, why, f"chmod 700 {folder}, or use another --data-dir")
    folder.chmod(FOLDER_MODE)
    _log.warning("closed %s to other users mode=%03o before=%03o", folder, FOLDER_MODE, mode)


def _refused(folder: Path, why: str, hint: str) -> ConfigError:
    return ConfigError(f"cannot keep a cluster in {folder}", because=why, hint=hint)
