"""The string under one key of a JSON object that arrives in pieces, decoded as far as it has come.

A tool call's arguments are streamed as text that may break anywhere, inside an escape or between the two halves of a
surrogate pair. This reads them once, a character at a time, and gives out each part of the wanted string as soon as
it is certain (semantics.md S-9).
"""

from __future__ import annotations

from typing import Literal

from cockpit.core.text import sanitise

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = frozenset(" \t\r\n")

_State = Literal["between", "string", "escape", "hex"]


class StringField:
    """Feed it the pieces of one JSON object; it returns what each adds to the string under `key`, at the top level.

    Never raises: what is no JSON adds nothing more. A lone surrogate is U+FFFD (D-7). A value that is no string adds
    nothing; should the key come twice, both strings are given out.
    """

    def __init__(self, key: str = "text") -> None:
        self._key = key
        self._state: _State = "between"
        self._depth = 0
        self._name: list[str] = []  # the string being read, where it may be a key of the object itself
        self._hex = ""
        self._high = ""  # the first half of a surrogate pair whose second is to come
        self._expects_key = False
        self._awaits_value = False
        self._wanted = False

    def feed(self, piece: str) -> str:
        """The part of the wanted string that `piece` completes, or the empty string."""
        given: list[str] = []
        for char in piece:
            given.extend(self._take(char))
        return "".join(given)

    def _take(self, char: str) -> str:
        match self._state:
            case "between":
                self._structure(char)
                return ""
            case "string":
                if char == '"':
                    return self._close()
                if char == "\\":
                    self._state = "escape"
                    return ""
                return self._write(char)
            case "escape":
                if char == "u":
                    self._state, self._hex = "hex", ""
                    return ""
                self._state = "string"
                return self._write(_ESCAPES.get(char, char))
            case "hex":
                self._hex += char
                if len(self._hex) < 4:
                    return ""
                self._state = "string"
                return self._write(_code_unit(self._hex))

    def _structure(self, char: str) -> None:
        if char == '"':
            self._state = "string"
            self._wanted = self._awaits_value
            self._awaits_value = False
            self._name = []
        elif char in "{[":
            self._depth += 1
            self._expects_key = char == "{" and self._depth == 1
            self._awaits_value = False
        elif char in "}]":
            self._depth -= 1
        elif char == "," and self._depth == 1:
            self._expects_key = True
            self._awaits_value = False
        elif char == ":" and self._depth == 1:
            self._awaits_value = "".join(self._name) == self._key
        elif char not in _SPACE:
            self._awaits_value = False

    def _close(self) -> str:
        """The end of a string: of the wanted one, of a key, or of any other."""
        self._state = "between"
        given = self._flush() if self._wanted else ""
        if not self._expects_key:
            self._name = []
        self._expects_key = self._wanted = False
        self._high = ""
        return given

    def _write(self, char: str) -> str:
        if not self._wanted:
            if self._expects_key:
                self._name.append(char)
            return ""
        if "\ud800" <= char <= "\udbff":
            given, self._high = self._flush(), char
            return given
        if self._high and "\udc00" <= char <= "\udfff":
            pair, self._high = self._high + char, ""
            return sanitise(pair)
        return self._flush() + sanitise(char)

    def _flush(self) -> str:
        held, self._high = self._high, ""
        return sanitise(held)


def _code_unit(digits: str) -> str:
    try:
        return chr(int(digits, 16))
    except ValueError:
        return "\N{REPLACEMENT CHARACTER}"
