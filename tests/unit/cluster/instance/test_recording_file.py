"""The file of a recording has whole lines, whatever is in the way of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.instance.recording import LINE_BYTES, Complete, RecordingHeader
from quintant.cluster.instance.recording_file import RecordingFile

ON_A_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from quintant.cluster.instance.recording import Complete
from quintant.cluster.instance.recording_file import RecordingFile, RecordingFull

file, refused = RecordingFile(Path(sys.argv[1])), []
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
for revision in (1, 2, 3):
    try:
        file.write(Complete(revision))
    except RecordingFull as full:
        refused.append(str(full).splitlines()[1])
print(refused)
"""


def test_a_line_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = RecordingFile(path)
    file.write(Complete(1))
    with pytest.raises(ValueError, match="larger than any"):
        file.write(RecordingHeader(1, "x" * LINE_BYTES, ""))
    file.close()
    assert path.read_bytes() == b'{"complete":1}\n'


def test_a_full_disk_ends_a_recording_in_words(tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(path)], capture_output=True, text=True
    )
    part, whole = "only a part of the last line could be written", "File too large"
    assert done.stdout == f"{[f'because: {part}', f'because: {whole}']}\n", done.stderr
    assert path.read_bytes() == b'{"complete":1}\n{"com'
