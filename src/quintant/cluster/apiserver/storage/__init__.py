"""The store, in etcd's place: tables under one revision, their history, and the file they outlive
a process in.
"""
