"""What can go wrong with a provider, in one line for the operator, and how often it is tried again.

The SDK tries again by itself until a stream begins; `watching` is its middleware that sees each attempt and tells the
operator of the wait before it starts. What breaks a stream that has begun the SDK leaves to its caller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from cockpit.core.request import Retrying
from cockpit.core.text import clip
from cockpit.errors import ModelError

if TYPE_CHECKING:
    from anthropic import APIRequest, AsyncAPIResponse, AsyncCallNext

    Middleware = Callable[[APIRequest, AsyncCallNext], Awaitable[AsyncAPIResponse[object]]]

LONGEST_WAIT = 600.0
"""Seconds that a provider may ask for; beyond, the turn fails, and whoever owns it decides when to try again."""

_FIRST_DELAY, _LAST_DELAY = 0.5, 8.0  # seconds: the SDK's own backoff, of which it may take off a quarter
_TRANSIENT = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
_LINE = 300  # code points of a provider's own words


class Broken(ModelError):
    """The stream ended before the answer did. The same request may work at once."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the provider's answer broke off: {why}", retryable=True)
        self.why = why


class Retries:
    """The tries that one request has left, whoever makes them."""

    def __init__(self, most: int) -> None:
        self.left = max(0, most)
        self._taken = 0

    def again(self, reason: str, asked: float | None = None) -> Retrying | None:
        """Take one more try, after `asked` seconds or a delay that doubles; None where none is left."""
        if not self.left:
            return None
        delay = min(_FIRST_DELAY * 2.0**self._taken, _LAST_DELAY) if asked is None else asked
        self.left -= 1
        self._taken += 1
        return Retrying(reason, delay)

    def after_break(self, broken: Broken) -> Retrying:
        """The same for a stream that broke off. Raises `broken` where no try is left."""
        told = self.again(f"the answer broke off ({broken.why})")
        if told is None:
            raise broken
        return told


def watching(retries: Retries, tell: Callable[[Retrying], None]) -> Middleware:
    """Middleware for the SDK's client. It changes nothing but this: a provider that asks for more than LONGEST_WAIT
    raises ModelError instead of being waited for."""
    from anthropic import APIConnectionError  # noqa: PLC0415  (loaded by now; at the top it would cost two seconds)

    def announce(reason: str, asked: float | None = None) -> None:
        told = retries.again(reason, asked)
        if told is not None:
            tell(told)

    async def watch(request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[object]:
        try:
            response: AsyncAPIResponse[object] = await call_next(request)
        except APIConnectionError as error:
            announce(_unreached(error))
            raise
        status, headers = response.status_code, response.headers
        if _tries_again(status, headers):
            asked = _asked_wait(headers)
            if asked is not None and asked > LONGEST_WAIT:
                await response.http_response.aclose()
                raise ModelError(f"the provider asks to wait {asked:.0f} s ({_status(status)})", retryable=True)
            announce(_status(status), asked)
        return response

    return watch


def told(error: Exception, secrets: Iterable[str], *, streaming: bool) -> ModelError:
    """Any error of the SDK or of its transport as one line without the secrets in it.

    streaming: the answer had begun, so that what broke it is Broken and may be tried again.
    """
    from anthropic import APIConnectionError, APIStatusError  # noqa: PLC0415  (loaded by now, as above)

    if isinstance(error, APIStatusError):
        kind = error.type or "error"
        said = _line(error.api_message or error.message, secrets)
        if streaming:
            return Broken(f"{kind}: {said}") if kind in _TRANSIENT else ModelError(f"the provider failed: {said}")
        again = _tries_again(error.status_code, error.response.headers)
        return ModelError(f"the provider answered {error.status_code} ({kind}): {said}", retryable=again)
    if isinstance(error, APIConnectionError):
        return ModelError(f"the provider can't be reached: {_line(_unreached(error), secrets)}", retryable=True)
    said = _line(str(error) or type(error).__name__, secrets)
    return Broken(said) if streaming else ModelError(f"the provider answered nonsense: {said}", retryable=True)


def _tries_again(status: int, headers: Mapping[str, str]) -> bool:
    """The SDK's rule: what its server says, else timeouts, conflicts, limits and whatever is the server's fault."""
    said = headers.get("x-should-retry")
    return said == "true" or (said != "false" and (status in {408, 409, 429} or status >= 500))


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait, where it says so in a number above 0."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / scale
        except (KeyError, ValueError):
            continue
        return seconds if seconds > 0 else None
    return None


def _status(status: int) -> str:
    names = {429: "rate limited", 529: "overloaded"}
    known = {one.value: one.phrase.lower() for one in HTTPStatus}
    return f"{status} {names.get(status) or known.get(status, 'error')}"


def _unreached(error: Exception) -> str:
    """Why a connection failed: the SDK says only that it did, its cause says more."""
    cause = error.__cause__
    return f"{type(cause).__name__}: {cause}".rstrip(": ") if cause is not None else str(error)


def _line(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[secret]")
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE else f"{clip(flat, _LINE)}…"
