"""What processes delete, and whether they could know what it was.

Who deletes by an old view may delete what is needed: deletions are counted, to be compared with
those of the undisturbed run. And nobody may delete what was made anew a moment ago, and not seen.
"""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus

from quintant.client.request_info import verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.testing.explore.injection.process import ManagerProcess
from quintant.testing.explore.injection.trace import Trace


class Deletions:
    """Counts the deletions of a run, and notes those that nobody could know to be right."""

    def __init__(self, trace: Trace) -> None:
        self.counts: Counter[str] = Counter()
        """How many objects of each table were deleted by processes."""
        self.violations: list[str] = []
        """What a process did that it could not know to be right."""
        self._trace = trace
        self._made_blind: set[str] = set()
        self._stranger: tuple[str, bytes] | None = None
        self._known_to: set[ManagerProcess] = set()

    def made_anew(self, title: str, uid: str) -> None:
        """Somebody else has made an object anew."""
        self._stranger = (title, uid.encode())

    def saw(self, process: ManagerProcess, answer: bytes) -> None:
        """A process is about to read something."""
        if self._stranger is not None and self._stranger[1] in answer:
            self._known_to.add(process)

    def note(
        self,
        process: ManagerProcess,
        call: ApiRequest,
        subject: str,
        reply: ApiResponse,
        *,
        blind: bool,
    ) -> None:
        """A process has written; `blind` if somebody has an old view now."""
        if reply.status == HTTPStatus.CREATED and blind:
            self._made_blind.add(subject)
        if verb_of(call) == "delete" and reply.status == HTTPStatus.OK:
            self._note_delete(process, subject)

    def _note_delete(self, process: ManagerProcess, subject: str) -> None:
        if subject in self._made_blind:
            # Who made it by an old view may take it back.
            self._made_blind.remove(subject)
            return
        self.counts[subject.partition(" ")[0]] += 1
        if self._stranger is None or self._stranger[0] != subject:
            return
        if process not in self._known_to:
            why = f"it deletes {subject}, which somebody made anew, and it has not seen that one"
            self.violations.append(why)
            self._trace.tell(f"! {why}")
