"""A small client of the API server, for programs in pods: as their service account, and no more.

    pod_account   where the server is, whom to trust, and the token, which is read again
    errors        what is raised: the server refused, or was not reached
    object_path   which object is meant
    client        get, and patches of a status; what may pass is tried again
    watch         one object as it is, again and again

It works in a real pod and on the embedded node alike. Only the standard library and quintant.http
are loaded: programs in pods stay small, and load nothing of the runtime.
"""
