"""The tables of Kubernetes' built-in kinds, made from Kubernetes itself.

Two sources are joined: the tags of the Go types (names, numbers, pointers, merge keys), which the
Go program beside this package prints, and the OpenAPI documents of a real server (list types,
defaults, enumerations, required fields). Prose stays behind. `python -m tables` writes what is
committed: the table that the embedded server reads, and the samples that its decoder is tested
with. The same Kubernetes release always gives the same bytes.
"""
