"""`python -m spanwise` is the same as the `spanwise` command."""

from spanwise.cli import main

main()
