"""Presence told truly, restarts with growing pauses, kill and start (R-3, M-13, F-15, K-106, K-107)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence

import pytest

from cockpit.connect.config import Limits, ServerConfig
from cockpit.core.inputs import Descriptor
from cockpit.testing.host import Presented, RecordingHost
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]

DIES = ("sh", "-c", "echo broken >&2; exit 7")


class TestPresence:
    async def test_online_only_after_proof(self, serve: Serve) -> None:
        served = await serve("--silent", "initialize", until="connected")
        await served.remote.do("expect", method="initialize")
        assert served.host.words() == ["connecting"]

    async def test_each_line_proves_that_it_lives(self, serve: Serve) -> None:  # F-15
        served = await serve()
        before = served.host.proofs
        await served.remote.do("raw", text="noise\n")
        await served.remote.do("request", method="ping")
        assert served.host.proofs > before

    async def test_its_tools_are_there_when_it_comes_online(self, serve: Serve) -> None:  # N-4
        class Looking(RecordingHost):
            async def present(self, server: str, presence: str, reason: str = "", *, crashed: bool = False) -> None:
                if presence == "online":
                    seen.extend(tool.name for tool in served.server.tools())
                await super().present(server, presence, reason, crashed=crashed)  # type: ignore[arg-type]

        seen: list[str] = []
        served = await serve(host=Looking(), until="nothing")
        await served.online()
        assert seen == ["echo", "fail", "wait"]

    async def test_a_list_of_tools_that_does_not_come_does_not_keep_it_from_coming_online(
        self, serve: Serve, config: Config
    ) -> None:
        served = await serve("--silent", "tools/list", config=config(limits=Limits(tools=0.2)))
        assert served.server.tools() == ()
        await served.remote.do("answer", method="tools/list", how=None)
        await served.remote.do("notify", method="notifications/tools/list_changed")
        await served.host.until(lambda: served.host.tool_changes)
        assert len(served.server.tools()) == 3

    async def test_a_death_is_told_at_once_and_as_a_crash(self, serve: Serve) -> None:  # F-15, K-106
        served = await serve()
        pid = await served.remote.do("pid")
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        offline = await served.host.until_presence("offline")
        assert offline == Presented("fix", "offline", "was ended by SIGKILL", crashed=True)

    async def test_a_death_before_the_handshake_says_its_last_words(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(command=DIES), until="nothing")
        offline = await served.host.until_presence("offline")
        assert offline == Presented("fix", "offline", "exited with code 7: broken", crashed=True)

    async def test_what_it_said_before_it_died_is_still_taken(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("expect", method="channels/open")
        params = '{"messages":[{"channelId":"a","messageId":"1"}]}'
        line = f'{{"jsonrpc":"2.0","id":9,"method":"channels/incoming","params":{params}}}'
        served.host.full = True
        served.remote.tell("raw", text=line + "\n")
        served.remote.tell("exit", code=0)
        offline = asyncio.ensure_future(served.host.until_presence("offline"))
        done, _ = await asyncio.wait({offline}, timeout=0.7)
        assert not done, "it is not offline before the engine had its chance"
        served.host.full = False
        await offline
        assert [each.id for each in served.host.arrivals] == ["1"]

    async def test_an_engine_that_takes_nothing_does_not_hide_the_death(self, serve: Serve) -> None:  # F-15
        served = await serve("--channels", "a")
        await served.remote.do("expect", method="channels/open")
        served.host.full = True
        served.remote.tell("say", channel="a", text="x")
        served.remote.tell("exit", code=0)
        await served.host.until_presence("offline")
        assert "died before all that it had sent was taken" in served.host.faults


class TestPings:
    async def test_two_in_a_row_unanswered_are_the_end(self, serve: Serve, config: Config) -> None:
        served = await serve("--silent", "ping", config=config(ping=15))
        for count in (1, 2, 3):
            assert await served.clock.until_asked(count) == 15
            assert "offline" not in served.host.words()
            served.clock.advance(15)
        offline = await served.host.until_presence("offline")
        assert offline == Presented("fix", "offline", "did not answer two pings in a row", crashed=False)

    async def test_answered_ones_keep_it_online(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(ping=15))
        for count in range(1, 6):
            await served.clock.until_asked(count)
            if count > 1:
                await served.remote.do("expect", method="ping", count=count - 1)
                await served.server.call("echo", {})
            served.clock.advance(15)
        assert served.host.words() == ["connecting", "online"]

    async def test_an_error_is_an_answer(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(ping=15))
        await served.remote.do("answer", method="ping", how={"error": {"code": -32601, "message": "?"}})
        for count in range(1, 6):
            await served.clock.until_asked(count)
            if count > 1:
                await served.remote.do("expect", method="ping", count=count - 1)
                await served.server.call("echo", {})
            served.clock.advance(15)
        assert served.host.words() == ["connecting", "online"]

    async def test_a_server_that_we_keep_waiting_is_not_taken_for_dead(self, serve: Serve, config: Config) -> None:
        host = RecordingHost()
        served = await serve("--channels", "a", host=host, config=config(ping=15, limits=Limits(queue=50)))
        await served.remote.do("expect", method="channels/open")
        host.full = True
        flooding = served.remote.tell("flood", channel="a", count=5000, window=5000)
        calling = await served.stuck()
        for count in range(1, 6):
            await served.clock.until_asked(count)
            served.clock.advance(15)
        await served.clock.until_asked(6)
        host.full = False
        await flooding
        await calling
        assert host.words() == ["connecting", "online"]


class TestRestarts:
    async def test_pauses_grow_from_five_seconds_to_five_minutes(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(command=("false",)), until="nothing")
        pauses = []
        for count in range(1, 10):
            pause = await served.clock.until_asked(count)
            assert pause is not None
            pauses.append(pause)
            served.clock.advance(pause)
        assert pauses == [5, 10, 20, 40, 80, 150, 150, 150, 150]
        assert served.host.words() == ["connecting", "offline"] * 9 + ["connecting"] * (len(served.host.presences) % 2)

    async def test_the_jitter_at_its_most(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(command=("false",)), until="nothing")
        object.__setattr__(served.server, "_chance", lambda: 0.999999)
        pauses = []
        for count in range(1, 9):
            pause = await served.clock.until_asked(count)
            assert pause is not None
            pauses.append(round(pause))
            served.clock.advance(pause)
        assert pauses[1:] == [20, 40, 80, 160, 300, 300, 300]

    async def test_a_server_that_was_up_for_long_begins_anew(self, serve: Serve) -> None:
        served = await serve()
        for times, (up, pause) in enumerate([(1, 5), (1, 10), (59, 20), (61, 5), (1, 10)], start=1):
            served.clock.advance(up)
            served.remote.tell("crash")
            await served.host.until_presence("offline", times)
            assert await served.clock.until_asked(times) == pause
            served.clock.advance(pause)
            await served.online(times + 1)

    async def test_never_means_never(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(restart="never"))
        served.remote.tell("crash")
        await served.host.until_presence("offline")
        assert await served.clock.until_asked(1) is None
        served.clock.advance(10_000)
        assert served.host.words() == ["connecting", "online", "offline"]
        await served.server.start()
        await served.online(2)

    async def test_start_cuts_a_pause_short(self, serve: Serve) -> None:
        served = await serve()
        served.remote.tell("crash")
        await served.clock.until_asked(1)
        await served.server.start()
        await served.online(2)


class TestKill:
    async def test_kill_ends_the_process_and_stays(self, serve: Serve) -> None:  # M-10, K-107
        served = await serve()
        pid = await served.remote.do("pid")
        assert isinstance(pid, int)
        await served.server.kill()
        assert served.host.words() == ["connecting", "online", "killed"]
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        served.clock.advance(10_000)
        await served.clock.until_asked(1)
        assert served.host.words() == ["connecting", "online", "killed"]

    async def test_start_begins_again(self, serve: Serve) -> None:
        served = await serve()
        await served.server.kill()
        await served.server.start()
        await served.online(2)
        assert served.host.words() == ["connecting", "online", "killed", "connecting", "online"]

    async def test_kill_in_the_middle_of_a_handshake(self, serve: Serve) -> None:
        served = await serve("--silent", "initialize", until="connected")
        await served.server.kill()
        assert served.host.words() == ["connecting", "killed"]

    async def test_kill_in_a_pause(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(command=("false",)), until="nothing")
        await served.clock.until_asked(1)
        await served.server.kill()
        assert served.host.words() == ["connecting", "offline", "killed"]

    @pytest.mark.parametrize("asked", ["kill", "start"])
    async def test_asked_while_its_end_is_being_told(self, serve: Serve, asked: str) -> None:
        class Interrupting(RecordingHost):
            async def present(self, server: str, presence: str, reason: str = "", *, crashed: bool = False) -> None:
                if presence == "offline":
                    asking.append(asyncio.ensure_future(getattr(served.server, asked)()))
                    await asyncio.sleep(0)
                await super().present(server, presence, reason, crashed=crashed)  # type: ignore[arg-type]

        asking: list[asyncio.Future[None]] = []
        served = await serve(host=Interrupting())
        served.remote.tell("crash")
        if asked == "kill":
            await served.host.until_presence("killed")
        else:
            await served.online(2)
        await asyncio.gather(*asking)

    async def test_killed_before_it_ran_it_starts_killed(self, serve: Serve) -> None:  # M-13
        served = await serve(killed=True, until="nothing")
        await served.host.until_presence("killed")
        assert await served.clock.until_asked(1) is None
        assert served.host.words() == ["killed"]
        await served.server.start()
        await served.online()

    async def test_kill_twice_and_start_twice(self, serve: Serve) -> None:
        served = await serve()
        await asyncio.gather(served.server.kill(), served.server.kill())
        await served.server.kill()
        await served.server.start()
        await served.server.start()
        await served.online(2)
        await served.server.start()
        assert (await served.server.call("echo", {})).content
        assert served.host.words().count("online") == 2

    async def test_kill_and_start_at_once(self, serve: Serve) -> None:
        served = await serve()
        killing = asyncio.ensure_future(served.server.kill())
        await served.host.until_presence("killed")
        await served.server.start()
        await killing
        await served.online(2)

    async def test_a_kill_is_no_crash(self, serve: Serve) -> None:  # M-1, K-122
        served = await serve()
        await served.server.kill()
        assert not any(each.crashed or each.presence == "offline" for each in served.host.presences)


class TestBoundary:
    """What fails on one connection fails alone."""

    async def test_a_host_that_fails_ends_the_connection_with_a_reason(self, serve: Serve) -> None:
        class Failing(RecordingHost):
            async def registered(self, server: str, channels: Sequence[Descriptor]) -> Sequence[str]:
                raise OSError("disk full")

        served = await serve(host=Failing())
        served.remote.tell("register", channels=["a"])
        offline = await served.host.until_presence("offline")
        assert (offline.reason, offline.crashed) == ("disk full", False)
        await served.clock.until_asked(1)
        served.clock.advance(10)
        await served.online(2)

    async def test_two_servers_live_apart(self, serve: Serve, config: Config) -> None:
        one, other = await serve(config=config(name="one")), await serve(config=config(name="other"))
        one.remote.tell("crash")
        await one.host.until_presence("offline")
        assert (await other.server.call("echo", {})).content
        assert other.host.words() == ["connecting", "online"]
