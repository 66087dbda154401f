"""Why a server is offline is told to scripts too (R-3; cockpit.md, "Every fact on the screen is in it"), and what a
rate limit refuses is not what is stored already (A-7)."""

from __future__ import annotations

from cockpit.core.events import Failed
from cockpit.testing.stage import DISC, GIT, Start, recipe


async def test_the_reason_is_a_line_of_its_own_and_comes_once(start: Start) -> None:
    async with start(recipe(GIT, DISC)) as cockpit:
        for _ in range(2):
            await cockpit.servers["git"].down("exited with code 3")
            await cockpit.settle()
        said = [(event.code, event.message) for event in cockpit.of(Failed)]
        assert said == [("offline", "mcp:git: offline: exited with code 3")]


async def test_a_repeat_beyond_the_rate_is_accepted_and_a_new_one_is_not(start: Start) -> None:
    """A-7, mcpl.md 10: also in one batch; what was refused is stored when it comes again in time."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        first = await disc.host.arrived(disc.message("quiet", "one", message_id="1"))
        beyond = [await disc.host.arrived(disc.message("quiet", "text", message_id=each), over="rate") for each in "12"]
        late = await disc.host.arrived(disc.message("quiet", "two", message_id="2"))
        receipts = [(one.accepted, one.reason, one.duplicate) for one in [await first, *[await b for b in beyond]]]
        assert receipts == [(True, "", False), (True, "", False), (False, "rate", False)]
        assert (await late).accepted
        again = await (await disc.host.arrived(disc.message("quiet", "text", message_id="2"), over="rate"))
        assert (again.accepted, again.reason) == (True, "")
        assert [each.text for each in await cockpit.stored("residents")] == ["one", "two"]
