"""The embedded control plane: a Kubernetes-compatible cluster in one process.

In the order a request meets them:

    http ─► server ─► auth, authz ─► lookup ─► machinery ─► endpoints ─► reads ──────► store, ring
                                                                │                        │
                                                                └─► drafts ─► writes ────┤
                                                                              deletes    ▼
                                                                                      watchers

- store, ring: revisions and history; they know neither HTTP nor Kubernetes.
- queries, continuation: what a list is asked for. frames: the lines of a watch.
- expiry, quotas: events end in time, and quotas say what is used.
- catalog, builtins, crd, definitions: which kinds there are and how each behaves.
- tables, declared, fitting: what built-in kinds are made of, and objects made to fit them.
- media, protobuf: bodies as clients send them. jsonpatch, mergepatch, strategic: patches.
- fields, shapes, merging, managed: server-side apply and who owns what.
- wire: stored bytes and the forms a client may ask for. problems: every refusal, in one place.
- up, shares, moving: a whole cluster on this machine, beside others of its kind.
"""
