"""Documents that only ask something: read, answered, sent back, never stored."""

from __future__ import annotations

import msgspec

from quintant.cluster import drafts
from quintant.cluster.access import Access
from quintant.cluster.auth import User
from quintant.cluster.catalog import Kind
from quintant.cluster.claims import Author
from quintant.cluster.drafts import Draft, Target
from quintant.cluster.endpoints import CREATED
from quintant.cluster.headers import warned
from quintant.cluster.media import read_object
from quintant.cluster.options import write_options
from quintant.cluster.reviews import Reviews
from quintant.cluster.routes import Route
from quintant.cluster.tokenrequests import KIND as TOKEN_REQUEST
from quintant.cluster.tokenrequests import TokenRequests
from quintant.runtime.client.transport import Call, Reply
from quintant.runtime.clock import Chance, Clock, timestamp


class Questions:
    """Answers reviews of tokens and access, and requests for tokens."""

    def __init__(self, access: Access, clock: Clock, chance: Chance) -> None:
        self._reviews = Reviews(access.authentication, access.authorizer, clock)
        self._requests = TokenRequests(access.accounts, clock, chance)
        self._clock = clock

    def answer(self, call: Call, asked: Route, kind: Kind, user: User) -> Reply:
        """What was sent, with the answer in its status."""
        target = Target(kind, asked.namespace, asked.name, asked.sub)
        if target.sub:
            draft = self._draft(call, Target(TOKEN_REQUEST, asked.namespace, sub=asked.sub), user)
            told = self._requests.answer(target, draft.obj)
        else:
            draft = self._draft(call, target, user)
            told = self._reviews.answer(target, draft.obj, user)
        return Reply(CREATED, msgspec.json.encode(told) + b"\n", warned(draft.warnings))

    def _draft(self, call: Call, target: Target, user: User) -> Draft:
        sent = read_object(call.headers, call.body, target.kind.resource)
        options = write_options(call, "CreateOptions", user, sent)
        author = Author(options.manager, timestamp(self._clock.now()), target.sub)
        return drafts.created(target, sent, author, options.scrutiny)
