"""Secrets, key pairs and a certificate authority: for the runtime, the cluster and agents alike.

    sensitive   a secret that no log can print
    tls         a certificate and its key into an SSLContext, without a file
    private_files   files and folders for one pair of eyes
    authority   signs certificates; it and `usages` load `cryptography`, and nothing else here does
    usages      what a key is for, in Kubernetes' words

Stands alone: nothing of ours below.
"""
