"""`python -m cockpit` is the `cockpit` command."""

from cockpit.cli import main

main()
