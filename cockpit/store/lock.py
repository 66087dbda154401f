"""One cockpit a store: a lock that the kernel lets go when its process dies, however it dies (R-2, K-86, F-41).

Not SQLite's own locks, which come and go with each transaction, and not a file whose mere presence counts, which a
killed process would leave behind and a reused process id would keep alive.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

from cockpit.errors import StoreError, StoreInUse

_LOOKS = 50
_PAUSE = 0.01  # seconds between looks: the holder has the lock a moment before its process id is in the file


class StoreLock:
    """Holds `PATH.lock` while it is entered. The file stays and holds the process id of whoever has the lock.

    Raises StoreInUse, with the holder's process id, where another process has it; StoreError where there can be none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.with_name(f"{path.name}.lock")
        self._descriptor: int | None = None

    def __enter__(self) -> StoreLock:
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"the store {self._path} cannot be locked: {error.strerror or error}") from error
        try:
            os.fchmod(descriptor, 0o600)
            self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, descriptor: int) -> None:
        for look in range(_LOOKS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(descriptor)
                if holder is not None or look == _LOOKS - 1:
                    raise StoreInUse(str(self._path), holder or 0) from None
                time.sleep(_PAUSE)
            except OSError as error:
                raise StoreError(f"the store {self._path} cannot be locked: {error.strerror or error}") from error
            else:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return


def _holder(descriptor: int) -> int | None:
    """The process id in the file, where it is one that lives; None while the file still names the last holder."""
    written = os.pread(descriptor, 32, 0).strip()
    if not written.isdigit():
        return None
    pid = int(written)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it lives, and is another user's
    return pid
