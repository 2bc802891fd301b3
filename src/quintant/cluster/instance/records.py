"""Named clusters of this machine: which ones run, with address, kubeconfig and log.

    clusters/NAME.lock          held by the process of a cluster for as long as it lives; its pid
    clusters/NAME/record.json   written when the cluster is ready; kubeconfig and log beside it

Whether a cluster runs is told by the lock alone, which ends with the process however that ends: a
record that a kill has left, or a process that has got its number since, misleads nobody. The files
of locks stay: two starts could otherwise hold two files of one name.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.instance.kubeconfig import runtime_folder
from quintant.core.errors import ConfigError
from quintant.keys.private_files import FILE_MODE, private_folder, write_private
from quintant.wire.foreign import MalformedInput, decode_json

DEFAULT = "default"
"""The name of a cluster in the background that was given none."""
RECORD = "record.json"
MOST_BYTES = 64 * 1024
"""Of a record: what is longer is none."""
PID_BYTES = 20
POLL_SECONDS = 0.05
CLAIM_TRIES = 20
"""A name is looked at with a shared lock: who wants to have it tries for a second."""

Sleep = Callable[[float], None]


class ClusterRecord(Struct, frozen=True):
    """What a cluster that is ready says of itself."""

    pid: int
    url: str
    kubeconfig: str
    started: float
    """Seconds since 1970."""
    data_dir: str = ""
    arguments: tuple[str, ...] = ()
    """What `quintant up` needs for another one that does the same with the same objects."""


class NamedCluster(Struct, frozen=True):
    """A name, whether its cluster runs, and what it said of itself."""

    name: str
    running: bool
    record: ClusterRecord | None


class ClusterRecords:
    """The named clusters of a user."""

    def __init__(self, environ: Mapping[str, str], sleep: Sleep = time.sleep) -> None:
        self.folder: Path = runtime_folder(environ) / "clusters"
        self._sleep = sleep

    def folder_of(self, name: str) -> Path:
        """Where its files are; ConfigError for what is no name."""
        if dns1123_label_errors(name):
            raise ConfigError(
                f"{name!r} is no name for a cluster",
                because="a name has small letters, digits and dashes, at most 63",
                hint="try one as dev or test-2",
            )
        return self.folder / name

    def log_of(self, name: str) -> Path:
        """What its process prints, if it runs in the background."""
        return self.folder_of(name) / "log"

    @contextmanager
    def claim(self, name: str) -> Iterator[Path]:
        """Have a name for as long as the context lasts; ConfigError if another cluster has it."""
        folder = private_folder(self.folder_of(name))
        handle = os.open(self._lock_file(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            if not self._lock(handle):
                raise ConfigError(
                    f"cannot start the cluster {name!r}",
                    because="there is one of this name already",
                    hint=f"quintant down {name}, or choose another --name",
                )
            (folder / RECORD).unlink(missing_ok=True)
            os.truncate(handle, 0)
            os.write(handle, b"%d\n" % os.getpid())
            yield folder
            (folder / RECORD).unlink(missing_ok=True)
        finally:
            os.close(handle)

    def announce(self, name: str, record: ClusterRecord) -> None:
        """Say that the cluster, whose name this process has, is ready."""
        write_private(self.folder_of(name) / RECORD, msgspec.json.encode(record))

    def find(self, name: str) -> NamedCluster:
        """What is known of a name."""
        # In this order: a record that is read while the lock is held is that of its holder.
        return NamedCluster(name, self._is_locked(name), self._read(name))

    def list(self) -> list[NamedCluster]:
        """Every name of which something is known, in order."""
        if not self.folder.is_dir():
            return []
        names = sorted(path.name for path in self.folder.iterdir() if path.is_dir())
        return [self.find(name) for name in names if not dns1123_label_errors(name)]

    def signal(self, name: str, number: signal.Signals) -> bool:
        """Send a signal to the process of a cluster; False if there is none any more."""
        pid = self._holder(name)
        if not pid:
            return False
        with _process(pid) as send:
            # The process is held now: if the lock is still its own, its number is not another's.
            if send is None or not self._is_locked(name) or self._holder(name) != pid:
                return False
            send(number)
            return True

    def wait_ended(self, name: str, seconds: float, progress: Callable[[], None]) -> bool:
        """Wait until a cluster has ended; False if it has not after so long."""
        for _ in range(int(seconds / POLL_SECONDS)):
            if not self._is_locked(name):
                return True
            progress()
            self._sleep(POLL_SECONDS)
        return not self._is_locked(name)

    def forget(self, name: str) -> None:
        """Remove what a cluster has left, unless it runs (again)."""
        handle = os.open(self._lock_file(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            if self._lock(handle):
                shutil.rmtree(self.folder_of(name), ignore_errors=True)
        finally:
            os.close(handle)

    def _lock_file(self, name: str) -> Path:
        return private_folder(self.folder) / f"{name}.lock"

    def _holder(self, name: str) -> int:
        """The process that had a name last; 0 if there was none."""
        try:
            text = (self.folder / f"{name}.lock").read_bytes()[:PID_BYTES]
            return int(text)
        except (OSError, ValueError):
            return 0

    def _lock(self, handle: int) -> bool:
        for _ in range(CLAIM_TRIES):
            try:
                # Not flock: a pod that is a fork of this process would go on holding it.
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                self._sleep(POLL_SECONDS)
        return False

    def _is_locked(self, name: str) -> bool:
        path = self.folder / f"{name}.lock"
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except OSError:
            return True
        finally:
            os.close(handle)

    def _read(self, name: str) -> ClusterRecord | None:
        try:
            with (self.folder_of(name) / RECORD).open("rb") as file:
                return read_record(file.read(MOST_BYTES))
        except OSError:
            return None


def read_record(raw: bytes) -> ClusterRecord | None:
    """What a file says of a cluster; None if it is no record."""
    try:
        return decode_json(raw, ClusterRecord, most=MOST_BYTES)
    except MalformedInput:
        return None


@contextmanager
def _process(pid: int) -> Iterator[Callable[[signal.Signals], None] | None]:
    """How to signal a process, held so that no other can get its number; None if it is gone."""
    if not hasattr(os, "pidfd_open"):
        yield lambda number: os.kill(pid, number)
        return
    try:
        handle = os.pidfd_open(pid)
    except (OSError, ValueError):
        yield None
        return
    try:
        yield lambda number: signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
