"""Lists of managers, as objects carry them."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.fieldmanager.managers import check_managers, decode_managed_fields

FIELDS: dict[str, Any] = {"f:data": {"f:k": {}}}
ENTRY = {"manager": "me", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": FIELDS}


def test_a_list_that_can_be_read_is_no_reason_to_complain() -> None:
    check_managers([ENTRY])
    check_managers(None)
    assert [managed.fields.encode() for managed in decode_managed_fields([ENTRY]).values()] == [
        FIELDS
    ]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"operation": "Upsert"}, "operation must be `Apply` or `Update`"),
        ({"fieldsType": "FieldsV2"}, "fieldsType must be `FieldsV1`"),
    ],
)
def test_what_makes_a_list_unreadable_is_said(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        check_managers([ENTRY, ENTRY | wrong])
