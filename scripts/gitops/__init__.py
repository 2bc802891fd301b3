"""Objects judged as tools of GitOps judge them: by kstatus, and by Argo CD's Lua.

`judge/` is the source of the program in Go around both; tests give it objects of every phase, and
of a real cluster.
"""
