"""SetStatusCondition: lastTransitionTime stays while a condition's status does."""

from __future__ import annotations

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject


class StatusCondition(Struct, frozen=True):
    """A condition, without its time."""

    type: str
    status: bool
    reason: str = ""
    message: str = ""

    def set(self, status: JsonObject, now: str) -> JsonObject:
        """The status with this condition; its time stands while its truth does."""
        value = "True" if self.status else "False"
        before = {each["type"]: each for each in status.get("conditions") or ()}
        old = before.get(self.type, {})
        since = old["lastTransitionTime"] if old.get("status") == value else now
        fields = {"reason": self.reason, "message": self.message}
        before[self.type] = {
            "type": self.type,
            "status": value,
            "lastTransitionTime": since,
            **{name: text for name, text in fields.items() if text},
        }
        return {**status, "conditions": list(before.values())}

    def is_set(self, status: JsonObject) -> bool:
        """Whether a status has a condition of this type and truth."""
        value = "True" if self.status else "False"
        return any(
            each["type"] == self.type and each["status"] == value
            for each in status.get("conditions") or ()
        )

    def is_exactly_set(self, status: JsonObject) -> bool:
        """Whether a status has this very condition, whenever it came."""
        condition = (self.type, self.reason, self.message)
        return self.is_set(status) and any(
            (each["type"], each.get("reason"), each.get("message")) == condition
            for each in status["conditions"]
        )
