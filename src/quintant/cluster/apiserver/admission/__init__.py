"""Admission: what happens to a change between its draft and the store.

    plugins ─► mutating webhooks, one after the other ─► (validation) ─► validating, all at once

The server's own plugins are here, and put together in apiserver.server.admission_chain; webhooks
are in apiserver.webhooks. Writes that wait for them are in apiserver.handlers.admitted_write.
"""
