"""The cockpit without a screen: the headless twin, the socket and its clients. They speak to a `Link` only."""
