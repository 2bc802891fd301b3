"""The file of a recording: it grows by whole lines, up to a size.

Each line is handed to the system at once, so that what was written is there whatever becomes of
this process.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from quintant.cluster.instance.recording import LINE_BYTES, encode_line
from quintant.core.errors import ConfigError

MOST_BYTES = 1024**3
"""Of a file, unless somebody says otherwise."""


class RecordingFull(ConfigError):
    """A recording is as large as it may be, or as can be."""


class RecordingFile:
    """A file that grows by whole lines; ConfigError if there is one of that name."""

    def __init__(self, path: Path, most: int = MOST_BYTES) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            self._file = os.open(path, flags, 0o600)
        except OSError as error:
            raise ConfigError(
                f"cannot record to {path}", because=os.strerror(error.errno or 0)
            ) from error
        self.size: int = 0
        self._path, self._most = path, most

    def write(self, line: Struct) -> None:
        """Write a line; RecordingFull if there is no room for it, ValueError for too long a one."""
        data = encode_line(line)
        if len(data) > LINE_BYTES:
            raise ValueError("an object is larger than any that a server stores")
        if self.size + len(data) > self._most:
            raise RecordingFull(
                f"the recording {self._path} is full",
                because=f"it may have {self._most} bytes",
                hint="record to another file, or with a larger --max-size",
            )
        try:
            written = os.write(self._file, data)
        except OSError as error:
            raise self._no_room(os.strerror(error.errno or 0)) from error
        self.size += written
        if written < len(data):
            # Nothing may follow: half a line is good as the last one alone.
            raise self._no_room("only a part of the last line could be written")

    def _no_room(self, because: str) -> RecordingFull:
        return RecordingFull(
            f"the recording {self._path} ends here",
            because=because,
            hint="free space, and record to another file",
        )

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)
