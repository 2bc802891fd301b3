"""Admission policies: expressions of the cluster's own that change, refuse or warn of a write.

    match_resources   what a policy is about        policy_source   policies with their bindings
    params            the objects a binding names   composition     variables, when first used
    policy_matcher    which policies are due        evaluation      their expressions, run
    validator         one that validates            validating      all of them, and their verdict
    patchers          one mutation                  mutating        every policy that mutates
    object_values     what a mutation makes         reinvocation    policies and webhooks, again

Without a policy that is bound a write is not delayed by so much as a turn of the loop. A policy
holds from the moment at which it is stored; a real server needs up to a second.
"""
