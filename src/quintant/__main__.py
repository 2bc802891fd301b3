"""`python -m quintant`: the command line, without a script on the path."""

from quintant.cli import main

if __name__ == "__main__":
    main()
