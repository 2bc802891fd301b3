"""`python -m kopf`, where OpenSSL's version has two digits at its end."""

import runpy
from importlib import import_module

import_module("kopf_for_openssl_3")  # beside this file
runpy.run_module("kopf", run_name="__main__", alter_sys=True)
