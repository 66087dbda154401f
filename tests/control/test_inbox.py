"""`cockpit inbox`: what a participant has not read yet, by its token, told once and never lost."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.control import commands
from cockpit.testing.hand_link import HandLink, client, letter, raw, served


@pytest.fixture
def path() -> Iterator[Path]:
    """A short place in a folder that is fit."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "one.sock"


async def test_all_that_is_unread_is_written_and_then_told_as_read(path: Path) -> None:
    """In as many answers as it takes; the next command has nothing to say."""
    cockpit = HandLink(letters=[letter(number) for number in (1, 2, 3)])
    async with served(cockpit, path), client(path) as link:
        for expected in (["  word 1", "  word 2", "  word 3"], []):
            out: list[str] = []
            code = await commands.inbox(link, "hedgehog", token="right", write=out.append, tell=out.append)
            assert (code, out[1::2]) == (0, expected)
    assert cockpit.read == 3


async def test_a_command_that_dies_before_it_has_written_loses_nothing(path: Path) -> None:
    cockpit = HandLink(letters=[letter(1)])

    def broken(_: str) -> None:
        raise BrokenPipeError

    async with served(cockpit, path), client(path) as link:
        assert await commands.inbox(link, "hedgehog", token="right", write=broken, tell=print) == 0
        assert cockpit.read == 0
        out: list[str] = []
        await commands.inbox(link, "hedgehog", token="right", write=out.append, tell=print, as_json=True)
        assert [json.loads(line) for line in out] == [{"event": "message", **letter(1)}]
        assert list(json.loads(out[0])) == ["event", "at", "author", "to", "text", "id"]


async def test_following_tells_what_comes_until_the_cockpit_goes(path: Path) -> None:
    cockpit = HandLink(letters=[letter(1)])
    out: list[str] = []
    err: list[str] = []
    async with served(cockpit, path) as serving, client(path) as link:

        async def pause(_: float) -> None:
            """Another message comes, and then the end."""
            if len(cockpit.letters) == 1:
                cockpit.letters.append(letter(2))
            else:
                serving.cancel()

        code = await commands.inbox(
            link, "hedgehog", token="right", follow=True, write=out.append, tell=err.append, pause=pause
        )
    assert (code, out[1::2], err) == (1, ["  word 1", "  word 2"], ["the cockpit has gone"])


async def test_it_is_opened_by_its_token_alone(path: Path) -> None:
    """R-7: and no token is repeated."""
    cockpit = HandLink(letters=[letter(1)])
    async with served(cockpit, path), client(path) as link, raw(path) as wrong:
        out: list[str] = []
        err: list[str] = []
        code = await commands.inbox(link, "hedgehog", token="guess", write=out.append, tell=err.append)
        assert (code, out, err) == (1, [], ["no participant 'hedgehog' with that token"])
        await wrong.said()
        wrong.say(b'{"id":1,"do":"inbox","as":"hedgehog","after":-1}\n')
        assert "the number of a message" in str(await wrong.said())
    assert cockpit.asked == []
