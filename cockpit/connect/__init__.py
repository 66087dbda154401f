"""Servers on the wire: one file a protocol, under one supervisor that starts them again and tells presence truly.

Nothing here imports the MCP SDK before the first connection is made: it costs a second that the screen's first
frame has no use for.
"""
