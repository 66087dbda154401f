"""Servers on the wire: one file a protocol, under one supervisor that starts them again and tells presence truly."""
