"""Whether what a kept cluster has stored can be read: before it serves, not in the middle of it.

A row that was changed has a wrong checksum; one that came from a file without checksums, and was
changed before, is found by looking whether it is an object.
"""

from __future__ import annotations

from pathlib import Path

from quintant.cluster.apiserver.kinds.stored_json import is_document
from quintant.cluster.apiserver.storage.corruption import Examination, corrupt_database
from quintant.cluster.apiserver.storage.open_file import FILE
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.storage.salvage import examine_folder, salvage


def check_documents(store: RevisionStore, folder: Path) -> None:
    """ConfigError, with the row, if an object cannot be read."""
    for name, table in store.snapshot().tables.items():
        for key, entry in table.entries.items():
            if not is_document(entry):
                raise corrupt_database(folder / FILE, f"{name} {key}: it is no object")


def examine_cluster(folder: Path) -> Examination:
    """What is in a data directory that no server has; ConfigError if that cannot be said."""
    return examine_folder(folder, is_document)


def salvage_cluster(folder: Path) -> tuple[Examination, Path | None]:
    """Set aside what cannot be read of a data directory; what it was, and the folder it is in."""
    return salvage(folder, is_document)
