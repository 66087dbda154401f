"""What the terminal can do, as far as its environment tells: nothing is written to it, and nothing asked of it."""

from __future__ import annotations

import codecs
import locale
import os
import shutil
import sys
from collections.abc import Iterator, Mapping

from cockpit.setup.finding import Finding

_NOTICES = ("iterm.app", "wezterm", "ghostty", "warpterminal")
"""TERM_PROGRAM of terminals that are known to show OSC 9 as a desktop notice."""

_COPIERS = ("wl-copy", "xclip", "xsel", "pbcopy")


def terminal(environment: Mapping[str, str]) -> Iterator[Finding]:
    """A line each for the terminal itself, its size, its characters, its colours, its clipboard and its notices."""
    tty = sys.stdin.isatty() and sys.stdout.isatty()
    name = environment.get("TERM", "")
    around = _around(environment)
    where = f"TERM {name}{f', {around}' if around else ''}" if name else "TERM is not set"
    if not tty:
        told = f"{where}; standard input or output is no terminal"
        yield Finding("note", "terminal", told, "the screen needs one; `cockpit run --headless` does not")
    elif name in {"", "dumb"}:
        yield Finding("bad", "terminal", where, "export TERM=xterm-256color, or use `cockpit run --headless`")
    else:
        yield Finding("ok", "terminal", where)
    if tty:
        yield _size()
    yield _characters()
    yield _colours(environment, name)
    yield _clipboard(environment, around)
    yield _notices(environment)


def _around(environment: Mapping[str, str]) -> str:
    held = [
        word
        for word, names in (("tmux", ("TMUX",)), ("screen", ("STY",)), ("SSH", ("SSH_TTY", "SSH_CONNECTION")))
        if any(environment.get(each) for each in names)
    ]
    return "under " + " and ".join(held) if held else ""


def _size() -> Finding:
    try:
        width, height = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return Finding("note", "size", "unknown", "stty size should tell it")
    said = f"{width}×{height}"
    if width < 40 or height < 12:
        return Finding("bad", "size", f"{said}: too small for the table", "make it at least 80×24")
    if width < 80 or height < 24:
        return Finding("note", "size", f"{said}: the table and the prompt only", "at 80×24 all panes fit")
    return Finding("ok", "size", said)


def _characters() -> Finding:
    encoding = locale.getpreferredencoding(do_setlocale=False)
    try:
        known = codecs.lookup(encoding).name
    except LookupError:
        known = encoding
    if known == "utf-8":
        return Finding("ok", "characters", "UTF-8")
    return Finding("note", "characters", f"{encoding}: plain glyphs are used", "export LANG=C.UTF-8 shows the others")


def _colours(environment: Mapping[str, str], name: str) -> Finding:
    if environment.get("NO_COLOR"):
        return Finding("ok", "colours", "none: NO_COLOR is set, states are told by word and glyph")
    if environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return Finding("ok", "colours", "16 million")
    count = 256 if "256color" in name else 16
    return Finding("ok", "colours", f"{count} (COLORTERM=truecolor says that there are more)")


def _clipboard(environment: Mapping[str, str], around: str) -> Finding:
    if environment.get("VTE_VERSION"):
        return Finding("note", "clipboard", "this terminal (VTE) ignores OSC 52", "Y writes what is copied to a file")
    if "tmux" in around:
        return Finding("note", "clipboard", "OSC 52 through tmux", "tmux set -g set-clipboard on lets it through")
    if "screen" in around:
        return Finding("note", "clipboard", "screen swallows OSC 52", "Y writes what is copied to a file")
    beside = next((each for each in _COPIERS if shutil.which(each)), None)
    local = f"; {beside} is here too" if beside and "SSH" not in around else ""
    return Finding("ok", "clipboard", f"by OSC 52, where the terminal lets it{local}; Y writes a file")


def _notices(environment: Mapping[str, str]) -> Finding:
    program = environment.get("TERM_PROGRAM", "")
    if program.lower() in _NOTICES or environment.get("WT_SESSION") or environment.get("ConEmuANSI") == "ON":
        return Finding("ok", "notices", "OSC 9 is likely shown as a desktop notice")
    return Finding("ok", "notices", "OSC 9 may not be shown here; the bell is")
