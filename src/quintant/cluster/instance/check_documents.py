"""Whether what a kept cluster has stored can be read: before it serves, not in the middle of it.

SQLite finds a damaged page; a value that somebody, or a disk, has changed it hands out as it is.
"""

from __future__ import annotations

from pathlib import Path

from quintant.cluster.apiserver.kinds.stored_json import is_document
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.storage.sqlite import FILE, corrupt_database


def check_documents(store: RevisionStore, folder: Path) -> None:
    """ConfigError, with the row, if an object cannot be read."""
    for name, table in store.snapshot().tables.items():
        for key, entry in table.entries.items():
            if not is_document(entry):
                why = f"the row '{name}/{key}' of table kv is no object"
                raise corrupt_database(folder / FILE, why)
