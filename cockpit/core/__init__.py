"""The rules, as pure functions over plain values: no I/O, no clock, no asyncio, no screen, no SDK."""
