"""R-3: whatever a server does harms nobody else; it is restarted, or offline with the reason in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cockpit.connect import sdk
from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.faults import Faults, Secrets
from cockpit.connect.process import Process
from cockpit.connect.splitter import Splitter
from cockpit.connect.stderr import StderrLog
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]


@pytest.fixture
async def bystander(serve: Serve, config: Config) -> Served:
    """Another server, which must not notice anything."""
    return await serve("--channels", "z", config=config(name="bystander"))


async def unharmed(bystander: Served) -> None:
    await bystander.remote.do("say", channel="z", text="all well")
    assert (await bystander.server.call("echo", {})).content
    assert bystander.host.words() == ["connecting", "online"]


async def test_crash(serve: Serve, bystander: Served) -> None:
    served = await serve()
    served.remote.tell("crash")
    assert (await served.host.until_presence("offline")).reason == "was ended by SIGKILL"
    await unharmed(bystander)


async def test_hang(serve: Serve, config: Config, bystander: Served) -> None:
    served = await serve(config=config(ping=15))
    await served.remote.do("deaf")
    for count in (1, 2, 3):
        await served.clock.until_asked(count)
        served.clock.advance(15)
    assert (await served.host.until_presence("offline")).reason == "did not answer two pings in a row"
    await unharmed(bystander)


async def test_never_answering_the_handshake(serve: Serve, config: Config, bystander: Served) -> None:
    served = await serve("--silent", "initialize", config=config(limits=Limits(handshake=0.3)), until="nothing")
    offline = await served.host.until_presence("offline")
    assert (offline.reason, offline.crashed) == ("did not answer the handshake within 0.3 s", False)
    await unharmed(bystander)


async def test_garbage_before_the_handshake_and_no_answer(serve: Serve, config: Config, bystander: Served) -> None:
    options = ("--silent", "initialize", "--garbage", "Welcome!", "--garbage", "\x1b]0;x\x07")
    served = await serve(*options, config=config(limits=Limits(handshake=0.5)), until="nothing")
    offline = await served.host.until_presence("offline")
    assert offline.reason == "did not answer the handshake within 0.5 s; it wrote lines that are not JSON"
    assert served.host.faults == ["wrote a line that is not JSON: Welcome!"]
    await unharmed(bystander)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ('{"error":{"code":1,"message":"go away"}}', "refused the handshake: go away"),
        ('{"result":{}}', "answered the handshake with something else than the protocol says"),
        ('{"result":null}', "answered the handshake with something else than the protocol says"),
        ("{}", "refused the handshake: answered without a result"),
        (
            '{"result":{"protocolVersion":"1","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}',
            "refused the handshake: Unsupported protocol version from the server: 1",
        ),
    ],
)
async def test_a_wrong_handshake(serve: Serve, config: Config, result: str, reason: str) -> None:
    script = (
        f"""read line; printf '%s\\n' '{result.replace("{", '{"jsonrpc":"2.0","id":1,', 1).replace(",}", "}")}'; cat"""
    )
    served = await serve(config=config(command=("sh", "-c", script)), until="nothing")
    assert (await served.host.until_presence("offline")).reason == reason


@pytest.mark.parametrize("experimental", ["true", '{"mcpl": true}', '{"mcpl": {"channels": [1], "featureSets": 3}}'])
async def test_an_odd_manifest_is_no_reason_to_lose_the_tools(serve: Serve, config: Config, experimental: str) -> None:
    answer = (
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},'
        f'"capabilities":{{"experimental":{experimental}}}}}}}'
    )
    script = f"read line; printf '%s\\n' '{answer}'; cat >/dev/null"
    given = config(command=("sh", "-c", script), limits=Limits(receipt=0.2))
    served = await serve(config=given, until="nothing")
    await served.host.until_presence("online")
    assert served.server.grant == frozenset()


async def test_ten_megabyte_lines(serve: Serve, bystander: Served) -> None:
    served = await serve("--channels", "a")
    await served.remote.do("line", bytes=10_000_000)
    await served.remote.do("say", channel="a", text="x" * 10_000_000)
    assert served.host.words() == ["connecting", "online"]
    await unharmed(bystander)


async def test_a_line_beyond_the_limit(serve: Serve, bystander: Served) -> None:
    served = await serve()
    served.remote.tell("line", bytes=(16 << 20) + 1)
    offline = await served.host.until_presence("offline")
    assert (offline.reason, offline.crashed) == ("sent a line longer than 16384 KiB", False)
    await unharmed(bystander)


async def test_a_line_without_end(serve: Serve, config: Config, bystander: Served) -> None:
    served = await serve(config=config(command=("cat", "/dev/zero")), until="nothing")
    offline = await served.host.until_presence("offline")
    assert offline.reason == "sent a line longer than 16384 KiB"
    await unharmed(bystander)


async def test_a_flood_of_noise(serve: Serve, config: Config, bystander: Served) -> None:
    served = await serve(config=config(command=("yes",), limits=Limits(handshake=1)), until="nothing")
    await unharmed(bystander)
    offline = await served.host.until_presence("offline")
    assert offline.reason == "did not answer the handshake within 1 s; it wrote lines that are not JSON"
    assert len(served.host.faults) < 15


async def test_a_flood_of_unknown_requests_is_answered(serve: Serve, bystander: Served) -> None:
    served = await serve()
    line = '{"jsonrpc":"2.0","id":"x","method":"nonsense"}\n'
    await served.remote.do("raw", text=line * 5000)
    await unharmed(bystander)
    answers = await served.remote.do("answers", count=5000)
    assert isinstance(answers, list)
    assert len(answers) == 5000


async def test_pings_from_a_server_that_does_not_read_its_answers_stop_its_reading(
    serve: Serve, bystander: Served
) -> None:
    """The session has a task for each ping; a server that never reads would have us hold them all."""
    script = 'while :; do printf \'%s\\n\' \'{"jsonrpc":"2.0","id":"p","method":"ping"}\'; done'
    handshake = (
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},'
        '"capabilities":{}}}'
    )
    command = ("sh", "-c", f"read line; printf '%s\\n' '{handshake}'; {script}")
    served = await serve(config=ServerConfig("fix", "mcp", command, ping=0), until="nothing")
    await served.host.until_presence("online")
    for _ in range(20):
        await unharmed(bystander)
    assert len(asyncio.all_tasks()) < 100


class _Unread(Process):
    """A process that says `said` at once and never reads."""

    def __init__(self, said: bytes, log: StderrLog) -> None:
        super().__init__(log)
        self._said = [said]

    async def read(self) -> bytes:
        if not self._said:
            await asyncio.Event().wait()
        return self._said.pop()

    def write(self, data: bytes) -> None:
        return

    async def drain(self) -> None:
        await asyncio.Event().wait()


async def test_the_sdk_gets_no_more_requests_than_it_answers(tmp_path: Path) -> None:
    """It starts a task for each, without a bound."""
    pings = b'{"jsonrpc":"2.0","id":"p","method":"ping"}\n' * 1000
    nothing = Secrets(())
    splitter = Splitter(
        _Unread(pings, StderrLog(tmp_path / "log", nothing, 1000)),
        Faults(lambda _: None, nothing),
        proved=lambda: None,
        capability=None,
        privileged=frozenset(),
        line=1 << 20,
        queue=10,
        held=10,
    )
    await sdk.load()
    async with sdk.session.ClientSession(*splitter.streams()):
        reading = asyncio.create_task(splitter.run())
        for _ in range(2000):
            await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) < 60
        reading.cancel()
    splitter.close()


async def test_invalid_utf8(serve: Serve, bystander: Served) -> None:
    served = await serve("--channels", "a")
    entry = b'{"channelId":"a","messageId":"1","content":"caf\xff"}'
    line = b'{"jsonrpc":"2.0","id":"u","method":"channels/incoming","params":{"messages":[%b]}}\n' % entry
    await served.remote.do("raw", hex=line.hex())
    await served.remote.do("answers")
    assert served.host.texts() == ["caf\N{REPLACEMENT CHARACTER}"]
    await unharmed(bystander)


async def test_lone_surrogates_are_stored_as_replacement_characters(serve: Serve) -> None:  # D-7, K-53
    served = await serve("--channels", "a")
    await served.remote.do("say", channel="a", text="a\ud800b", id="x\udfff", author="\ud83d")
    (arrived,) = served.host.arrivals
    assert served.host.texts() == ["a\N{REPLACEMENT CHARACTER}b"]
    assert (arrived.id, arrived.author) == ("x\N{REPLACEMENT CHARACTER}", "\N{REPLACEMENT CHARACTER}")
