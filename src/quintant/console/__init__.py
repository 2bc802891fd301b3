"""The console: what is in a cluster, on one page, live.

    views         objects as they are held: their JSON, and who owns which field
    sources       the watches, which come and go with kinds; each says how it is
    topics        rows with versions: encoded once, for any number of viewers
    publisher     gathers what changed, and publishes it a few times a second
    panels        rows of an operator's kinds; crd_panel, of anybody's
    overview, events, nodes, edgemap, object_page, changes     one topic each, or one each per name
    history       what changed in an object, and by whom
    access        who may see what
    pages         from a request to a response; stream, a viewer's; plain, without JavaScript
    console       all of it

It reads the API server and changes nothing, neither there nor here: whatever is asked, it shows.
"""
