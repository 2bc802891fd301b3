"""The container image: how it is built with any engine, and what is asserted about it.

engine, pip_settings, build   `make image`: docker, podman or buildah, with the host's pip settings
check_base, trim_root, strip_debug, sbom   steps of deploy/Containerfile: each alone in the build
base, local, archive, checks, sandbox, programs, by_hand, trial   `make image-test`: no registry
"""
