"""`python -m fdgcl` is `fdgcl`."""

from fdgcl.cli import main

if __name__ == "__main__":
    main()
