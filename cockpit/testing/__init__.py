"""Doubles that ship with the package, for its own tests and for whoever builds on it: a clock that stands still,
models that follow a script, a fixture MCPL server over real stdio, and a host that records."""
