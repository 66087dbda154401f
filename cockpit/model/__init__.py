"""Providers, one a file, behind one small protocol."""
