"""`python -m fdgcl` is `fdgcl`."""

from fdgcl.cli import main

main()
