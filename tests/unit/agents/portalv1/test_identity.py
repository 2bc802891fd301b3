from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.identity import PortalCredential, derive_id, verified
from quintant.agents.portalv1.messages import Identity, LeaseUpdateRequest, SignedPayload
from unit.agents.portalv1.yamux_ends import OTHER_SEED, SEED


def test_the_id_is_the_one_that_portal_derives() -> None:
    """Computed by the original, v1.4.5, for the same seed."""
    credential = PortalCredential(SEED)
    assert credential.id == "UXD2N3JFQH2XMFTUYJRVV3MASE"
    assert credential.identity.public_key.hex().startswith("03a107bff3ce10be1d70dd18e74bc099")


def test_a_signature_holds_for_whoever_signed() -> None:
    credential = PortalCredential(SEED)
    signed = SignedPayload.decode(credential.sign(LeaseUpdateRequest(timestamp=7)))
    assert LeaseUpdateRequest.decode(signed.data).timestamp == 7
    assert verified(signed, credential.identity)
    assert not verified(signed, PortalCredential(OTHER_SEED).identity)
    assert not verified(signed, None)


def test_an_id_that_is_not_the_keys_is_not_believed() -> None:
    credential = PortalCredential(SEED)
    signed = SignedPayload.decode(credential.sign(LeaseUpdateRequest()))
    other = Identity(PortalCredential(OTHER_SEED).id, credential.identity.public_key)
    assert not verified(signed, other)


@given(st.binary(max_size=40), st.binary(max_size=70))
def test_keys_and_signatures_of_any_form_are_refused_and_nothing_else(
    key: bytes, signature: bytes
) -> None:
    assert not verified(SignedPayload(b"data", signature), Identity(derive_id(key), key))
