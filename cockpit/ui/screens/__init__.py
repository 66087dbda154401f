"""Screens: the main one, and the sheets that stand over it for a while."""
