"""Admission webhooks: which of them concern a change, and what they say.

    attributes      what is asked about           registry    the webhooks of the configurations
    configuration   a webhook, understood         matcher     which are asked (match_conditions)
    rules, selectors, activation, versioned_attributes   shared with admission policies
    admission_review, response   the document, there and back
    call            one webhook, asked            dispatcher  the order in which they are asked
    dialer, https_dialer, connection, service_resolver   how a webhook is reached

Without a configuration that concerns it a write is not delayed by so much as a turn of the loop.
"""
