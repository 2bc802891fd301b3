"""Secrets, key pairs and a certificate authority: for the runtime, the cluster and agents alike.

    sensitive   a secret that no log can print
    tls         a certificate and its key into an SSLContext, without a file
    private_files   files and folders for one pair of eyes
    authority   signs certificates; the only module here that loads `cryptography`

Stands alone: nothing of ours below.
"""
