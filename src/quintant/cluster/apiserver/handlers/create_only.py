"""rest.Creater, SubjectAccessReview: a document is read, answered and sent back."""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec.structs import replace

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.size import request_cost
from quintant.cluster.apiserver.codec.write_options import WriteOptions, read_document
from quintant.cluster.apiserver.filters.access import Access
from quintant.cluster.apiserver.handlers.access_reviews import AccessReviews
from quintant.cluster.apiserver.handlers.admitted_write import AdmittedWrites
from quintant.cluster.apiserver.handlers.create import draft_create
from quintant.cluster.apiserver.handlers.token_request import KIND as TOKEN_REQUEST
from quintant.cluster.apiserver.handlers.token_request import TokenRequests
from quintant.cluster.apiserver.handlers.verbs import CREATED
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.meta.warnings import warning_headers
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.negotiate import negotiate
from quintant.core.clock import Clock, Random, timestamp


class CreateOnlyResources:
    """Answers reviews of tokens and access, and requests for tokens."""

    def __init__(
        self,
        access: Access,
        admission: AdmittedWrites,
        clock: Clock,
        random: Random,
        offload: Offload,
    ) -> None:
        self._offload = offload
        self._admission = admission
        self._reviews = AccessReviews(access.authenticator, access.authorizer, clock)
        self._requests = TokenRequests(access.accounts, clock, random)
        self._clock = clock

    async def answer(
        self, call: ApiRequest, request_info: RequestInfo, kind: Kind, user: User
    ) -> ApiResponse:
        """What was sent, with the answer in its status."""
        negotiate(call.headers.get("accept", ""), routed=True, tables=False)
        target = ObjectRef(
            kind, request_info.namespace, request_info.name, request_info.subresource
        )
        document = TOKEN_REQUEST if target.subresource else kind
        document_target = ObjectRef(
            document, request_info.namespace, subresource=request_info.subresource
        )
        drafting = partial(self._draft, call, document_target, user, timestamp(self._clock.now()))
        draft, options = await self._offload.run(drafting, request_cost(call))
        obj, warnings = await self._admission.admit_document(
            target, document.resource, draft.obj, None, options
        )
        if target.subresource:
            body = msgspec.json.encode(self._requests.answer(target, obj))
        else:
            reviewing = partial(self._reviewed, target, obj, user)
            body = await self._offload.run(reviewing, request_cost(call))
        return ApiResponse(CREATED, body + b"\n", warning_headers((*draft.warnings, *warnings)))

    def _reviewed(self, target: ObjectRef, obj: JsonObject, user: User) -> bytes:
        return msgspec.json.encode(self._reviews.answer(target, obj, user))

    def _draft(
        self, call: ApiRequest, target: ObjectRef, user: User, now: str
    ) -> tuple[Draft, WriteOptions]:
        sent, options = read_document(call, target.kind.resource, "CreateOptions", user)
        return draft_create(target, sent, replace(options, now=now)), options
