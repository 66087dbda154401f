"""Every error the product raises on purpose, so that a caller can catch a condition by its name.

CockpitError
├── RecipeError            the recipe is missing, unreadable or wrong        (exit 2)
├── UsageError             the command line or the terminal is not fit       (exit 2)
├── VerbError              a verb was refused; carries a code and a hint
├── StoreError             the store cannot be opened, read or written
│   └── StoreInUse         another cockpit holds the store                   (exit 3)
├── ConnectorError         a server could not be started, or broke the protocol
├── ToolError              a tool call was refused or failed
└── ModelError             the provider failed, refused or answered nonsense
    └── OverBudgetError    one message alone exceeds the context budget
"""

from __future__ import annotations

from typing import Literal

VerbCode = Literal[
    "unknown_verb",
    "missing_value",
    "bad_value",
    "unknown_target",
    "ambiguous_target",
    "wrong_kind",
    "already",
    "refused",
    "read_only",
    "not_running",
]


class CockpitError(Exception):
    """Base of the family; `str(error)` is one line fit for an operator."""


class RecipeError(CockpitError):
    """A recipe is missing or wrong. The text names the file, the line and the field (R-5)."""


class UsageError(CockpitError):
    """The command line, or the terminal it was given in, cannot be used."""


class VerbError(CockpitError):
    """A verb was refused and changed nothing. `code` is one of the contract's codes; `hint` what to say instead."""

    def __init__(self, code: VerbCode, message: str, hint: str = "") -> None:
        super().__init__(" ".join(message.splitlines()))  # a channel's id may hold a break, an error is one line
        self.code: VerbCode = code
        self.hint = " ".join(hint.splitlines())


class StoreError(CockpitError):
    """The store cannot be opened, read or written. The text says which file and why."""


class StoreInUse(StoreError):
    """Another cockpit holds the store (R-2). `pid` is its process id."""

    def __init__(self, path: str, pid: int) -> None:
        super().__init__(f"the store {path} is in use by the cockpit with process id {pid}")
        self.pid = pid


class ConnectorError(CockpitError):
    """A server could not be started, broke its protocol, or went away."""


class ToolError(CockpitError):
    """A tool call was refused or failed; the text is what the agent is told."""


class ModelError(CockpitError):
    """The provider failed. `retryable` says whether the same request may work later."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class OverBudgetError(ModelError):
    """A newest message alone exceeds the context budget (V-6). `message_id` names it."""

    def __init__(self, message: str, *, message_id: str) -> None:
        super().__init__(message)
        self.message_id = message_id
