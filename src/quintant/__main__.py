"""`python -m quintant`: the command line, without a script on the path."""

import os

from quintant.cli import main

if __name__ == "__main__":
    # In a pod of the embedded cluster, isolated, so that nothing was loaded before us to do it.
    if "QUINTANT_ISOLATED" in os.environ:
        from quintant.agents.dns.getaddrinfo import install

        install()
    main()
