"""Handlers that were written for kopf, run unchanged: `quintant run --kopf handlers.py`.

    values    what handlers are given: bodies, patches, differences, memos, stop flags
    declare   what handlers say: decorators, selectors, filters, settings, errors
    persist   what is kept in annotations, as kopf keeps it: progress, and what was handled last
    run       watching, deciding what happened, calling handlers, writing what they left

`public` has the names that `import kopf` gives, and `module` puts them there: kopf itself need not
be installed, and is not imported. What kopf has and this has not is refused by name.
"""
