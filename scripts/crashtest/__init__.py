"""Kill an embedded cluster under load, again and again, and see that it kept every promise.

The server is `quintant up --data-dir` in a process of its own; writers, a watcher and the ledger
of what they were told live here, where no crash of the server reaches them.
"""
