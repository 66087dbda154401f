"""Splits a line of the verb grammar into its words; what they mean is `verbs.parse`'s to say."""

from __future__ import annotations

import re
from typing import NamedTuple

from cockpit.errors import VerbError

_PLAIN = {"": re.compile(r"[^\s\"']+"), '"': re.compile(r'[^"\\]+'), "'": re.compile(r"[^']+")}
"""What stands for itself, outside quotes and inside each."""


class Word(NamedTuple):
    """One word. began: whether it began quoted. quoted: whether any of it was, an empty value too."""

    text: str
    began: bool = False
    quoted: bool = False


def split(line: str) -> list[Word]:
    """Split at spaces outside quotes; `"` and `'` quote, a backslash inside double quotes keeps `"` and itself.

    An apostrophe inside a word is a letter, not a quote. Raises VerbError (`bad_value`) where a quote is not closed.
    """
    words: list[Word] = []
    current: list[str] = []
    open_word = began = quoted = False
    quote = ""
    place = 0
    while place < len(line):
        plain = _PLAIN[quote].match(line, place)
        if plain is not None:
            current.append(plain.group())
            open_word, place = True, plain.end()
            continue
        letter = line[place]
        if quote:
            if letter == "\\" and quote == '"' and line[place + 1 : place + 2] in {'"', "\\"}:
                place += 1
                current.append(line[place])
            elif letter == quote:
                quote = ""
            else:
                current.append(letter)
        elif letter in {'"', "'"} and (not open_word or "".join(current[-1:]).endswith("=")):
            began = began or not open_word
            quote, open_word, quoted = letter, True, True
        elif letter.isspace():
            if open_word:
                words.append(Word("".join(current), began, quoted))
            current, open_word, began, quoted = [], False, False, False
        else:
            current.append(letter)
            open_word = True
        place += 1
    if quote:
        raise VerbError("bad_value", f"a quote {quote} is not closed", f"close it with {quote}")
    if open_word:
        words.append(Word("".join(current), began, quoted))
    return words
