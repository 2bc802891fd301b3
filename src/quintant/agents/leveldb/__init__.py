"""LevelDB's files read without its lock, so that a program beside a database can ask for one key.

    crc32c, snappy    what its blocks are checked and packed with
    log_file          records of logs and manifests     write_batch    changes within a record
    table_file        a sorted table                    manifest       which files count
    database          one key of a database             log_database   a small one that is written

A database may be in use, and its last record half written. What is read is what LevelDB itself
would find after a crash at that moment, or nothing: never an older value that was replaced.
Whatever does not add up (a checksum, an unknown field, a missing file) is `Unreadable`.
"""
