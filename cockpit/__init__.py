"""A terminal cockpit over an LLM agent's attention."""

__version__ = "0.1.0"
