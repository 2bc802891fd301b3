"""One cluster on this machine: everything that `quintant up` starts."""
