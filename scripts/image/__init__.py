"""The container image: how it is built with any engine, and what is asserted about it.

engine, pip_settings, build   `make image`: docker, podman or buildah, with the host's pip settings
trim_root, strip_debug, sbom  steps of deploy/Containerfile, run inside of the build: each alone
base, local, archive, checks, sandbox, programs, trial   `make image-test`, without a registry
"""
