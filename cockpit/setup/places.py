"""What is writable: the folders, the store and who holds it, the sockets and whether anybody answers."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cockpit.control.finding import Found
from cockpit.control.paths import check, folders
from cockpit.control.plain import flat
from cockpit.errors import UsageError
from cockpit.setup.finding import Finding
from cockpit.store.connection import files_of

BIG = 512_000_000
"""Bytes from which on a store is called big."""

LITTLE = 100_000_000
"""Bytes of free space below which a store is soon full."""


def folder(what: str, path: Path) -> Finding:
    """One folder of ours: there or not, its mode, whether it can be written, what is free."""
    there = next(each for each in (path, *path.parents) if each.exists())
    if not there.is_dir():
        return Finding("bad", what, f"{path}: {there} is no folder", f"move {there} away")
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding("bad", what, f"{path}: {there} cannot be written", f"chmod u+rwx {there}, or say another place")
    free = shutil.disk_usage(there).free
    room = f"{free / 1e9:.1f} GB free"
    if there != path:
        return Finding("ok", what, f"{path}, made when it is needed; {room}")
    mode = f"mode {stat.S_IMODE(path.stat().st_mode):04o}"
    if free < LITTLE:
        return Finding("bad", what, f"{path}, {mode}; {free / 1e6:.0f} MB free", "make room: the store stops when full")
    return Finding("ok", what, f"{path}, {mode}; {room}")


def store(path: Path) -> Iterator[Finding]:
    """The store: its size and mode, and who holds it."""
    if not path.exists():
        yield Finding("ok", "store", f"{path}, made at the first start")
        return
    if not path.is_file():
        yield Finding("bad", "store", f"{path} is no file", "say another with --db")
        return
    if not os.access(path, os.R_OK | os.W_OK):
        yield Finding("bad", "store", f"{path} cannot be read and written", f"chmod 600 {path}")
        return
    size = sum(each.stat().st_size for each in files_of(path)[:2] if each.exists())
    mode = stat.S_IMODE(path.stat().st_mode)
    said = f"{path}, mode {mode:04o}, {size / 1e6:.1f} MB"
    if mode & 0o077:
        yield Finding("note", "store", f"{said}: others may read it", f"chmod 600 {path}")
    elif size >= BIG:
        yield Finding("note", "store", f"{said}: big", f"cockpit compact --dry-run --db {path}")
    else:
        yield Finding("ok", "store", said)
    yield _lock(path)


def _lock(path: Path) -> Finding:
    """Whether a cockpit holds the store, asked of the kernel without taking it."""
    try:
        descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDONLY)
    except FileNotFoundError:
        return Finding("ok", "lock", "free")
    except OSError as error:
        return Finding("bad", "lock", f"cannot be read: {error.strerror}", f"chmod 600 {path}.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        return Finding("note", "lock", f"held by the cockpit with process id {flat(pid)}", "cockpit attach opens it")
    except OSError as error:
        return Finding("bad", "lock", f"cannot be locked: {error.strerror}", "keep the store on a local disk: --db")
    finally:
        os.close(descriptor)
    return Finding("ok", "lock", "free")


def runtime(environment: Mapping[str, str]) -> Finding:
    """The folder of the sockets, which nobody else may enter."""
    place = folders(environment)[0]
    if not os.path.lexists(place):
        return folder("sockets", place)
    try:
        check(place)
    except UsageError as error:
        return Finding("bad", "sockets", str(error), f"make {place} yours alone, or set XDG_RUNTIME_DIR")
    return folder("sockets", place)


def sockets(found: Sequence[Found]) -> Iterator[Finding]:
    """Each socket: who answers there, or that nobody does any more."""
    for each in found:
        if each.about is not None:
            about = each.about
            yield Finding("ok", "running", f"{flat(about.recipe)} on {flat(about.store)}, pid {about.pid}")
        elif each.stale:
            told = f"{each.path} is left over from a cockpit that has ended"
            yield Finding("note", "running", told, "the next start takes it over")
        else:
            told = f"{each.path}: {flat(each.why)}"
            yield Finding("bad", "running", told, "end that cockpit by its process id, and start it again")
    if not found:
        yield Finding("ok", "running", "no cockpit")
