"""Admission: what happens to a change between its draft and the store.

    plugins ─► mutating webhooks, one after the other ─► (validation) ─► validating, all at once

    attributes  what is asked about            registry    the webhooks of the configurations
    hook        a webhook, understood          matching    which of them are concerned
    review      the document, there and back   calling     one webhook, asked
    dialing     how a webhook is reached       webhooks    the order in which they are asked
    writing     writes that wait for them      plugins     the server's own admission

Without a configuration that concerns it a write is not delayed by so much as a turn of the loop.
"""
