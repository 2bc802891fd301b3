"""`python -m kopf`, where OpenSSL's version has two digits at its end."""

import runpy

import kopf_for_openssl_3

assert kopf_for_openssl_3
runpy.run_module("kopf", run_name="__main__", alter_sys=True)
