"""One connection to one server, from the start of its process or session to its end: the one task that enters and
leaves all that belongs to it. Whatever goes wrong on it ends it with a reason, and nothing beyond it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import NoReturn

from pydantic import ValidationError

from cockpit import __version__
from cockpit.connect import sdk
from cockpit.connect.config import Clock, ServerConfig
from cockpit.connect.faults import Faults, Secrets
from cockpit.connect.grant import OURS
from cockpit.connect.mcp import NOTIFICATIONS, McpSide, decline_elicitation, decline_sampling, no_roots
from cockpit.connect.mcpl import GATED, McplSide
from cockpit.connect.outbox import Outbox
from cockpit.connect.own import Own
from cockpit.connect.policy import ServerPolicy
from cockpit.connect.ports import Host
from cockpit.connect.process import Process, environment
from cockpit.connect.rate import Rate
from cockpit.connect.sending import Sender
from cockpit.connect.splitter import NOT_JSON, Splitter
from cockpit.connect.stderr import StderrLog
from cockpit.connect.streamable import HttpStream
from cockpit.connect.transport import Transport
from cockpit.core.message import Json
from cockpit.errors import ConnectorError


class Connection:
    """`run` serves until the connection ends. `grant`, `mcp`, `sender` and `instructions` hold from then on that
    `online` was called."""

    mcp: McpSide
    sender: Sender
    policy: ServerPolicy
    instructions = ""
    _has_manifest = False

    def __init__(
        self,
        config: ServerConfig,
        host: Host,
        *,
        log: StderrLog,
        secrets: Secrets,
        clock: Clock,
        own: Own,
        online: Callable[[], Awaitable[None]],
    ) -> None:
        """online: called once the server has proved itself and its tools are known; from then on it may speak."""
        self._log = log
        self.faults = Faults(lambda text: host.fault(config.name, text), secrets)
        self._config = config
        self._host = host
        self._clock = clock
        self._own = own
        self._online = online

    @property
    def grant(self) -> frozenset[str]:
        """The effective grant; of a server that speaks plain MCP, its tools."""
        return self.policy.grant if self._has_manifest else frozenset({"tools"} if self.mcp.allowed else ())

    async def run(self) -> NoReturn:
        """Start the process, or a session where there is a URL, and serve it. Always raises: ConnectorError or a
        group that holds one, with the reason; Crashed among them where it died by itself. The process and its
        children are gone by then, and nothing more is sent to the URL."""
        self._log.begin()
        if self._config.url is None:
            await self._over_pipes()
        else:
            await self._over_http()
        raise ConnectorError("ended")

    async def _over_pipes(self) -> None:
        process = await Process.start(self._config.command, environment(self._config.env), self._log)
        try:
            await self._serve(process)
        finally:
            await process.end(self._config.limits.grace)

    async def _over_http(self) -> None:
        await sdk.load()
        stream = HttpStream(self._config, self.faults)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(stream.run(), name=f"{self._config.name}: http")
            try:
                await self._serve(stream)
            finally:
                await stream.end()
                running.cancel()

    async def _serve(self, transport: Transport) -> None:
        limits, speaks_mcpl = self._config.limits, self._config.protocol == "mcpl"
        splitter = Splitter(
            transport,
            self.faults,
            proved=lambda: self._host.proved(self._config.name),
            capability=OURS if speaks_mcpl else None,
            privileged=frozenset(GATED if speaks_mcpl else ()),
            line=limits.line,
            queue=limits.queue,
            held=limits.held,
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(splitter.run(), name=f"{self._config.name}: read")
                await sdk.load()
                async with self._session(splitter) as session:
                    await self._converse(session, splitter, tasks)
        finally:
            splitter.close()

    def _session(self, splitter: Splitter) -> sdk.session.ClientSession:
        return sdk.session.ClientSession(
            *splitter.streams(),
            sampling_callback=decline_sampling,
            elicitation_callback=decline_elicitation,
            list_roots_callback=no_roots,
            client_info=sdk.types.Implementation(name="cockpit", version=__version__),
        )

    async def _converse(
        self, session: sdk.session.ClientSession, splitter: Splitter, tasks: asyncio.TaskGroup
    ) -> NoReturn:
        """Handshake, policy, tools, online; then until one of the tasks ends it."""
        config = self._config
        await self._initialize(session)
        raw = splitter.initialized
        capabilities = _object(raw.get("capabilities"))
        said = raw.get("instructions")
        self.instructions = said[: config.limits.text] if isinstance(said, str) else ""
        outbox = Outbox(splitter.write_bytes)
        self.policy = ServerPolicy(config, splitter.requests, self.faults)
        rate = Rate(config.limits.messages_per_second, self._clock.elapsed)
        gated = GATED if config.protocol == "mcpl" else {}
        side = McplSide(
            config,
            self._host,
            gated=gated,
            policy=self.policy,
            outbox=outbox,
            requests=splitter.requests,
            faults=self.faults,
            own=self._own,
            rate=rate,
        )
        self.sender = Sender(config, side=side, policy=self.policy, splitter=splitter, own=self._own)
        self.mcp = McpSide(config, self._host, session, self.faults, self._clock)
        tasks.create_task(self._consume(splitter, side), name=f"{config.name}: consume")
        self.mcp.allowed = await self._settle(capabilities)
        if self.mcp.allowed:
            await self._first_tools(tasks)
        await self._online()
        splitter.release()
        self.policy.released.set()
        tasks.create_task(self.mcp.keep_listed(), name=f"{config.name}: tools")
        tasks.create_task(self.mcp.subscribe(capabilities), name=f"{config.name}: subscribe")
        if config.ping:
            tasks.create_task(self._ping(splitter), name=f"{config.name}: ping")
        while True:
            await asyncio.Event().wait()

    async def _initialize(self, session: sdk.session.ClientSession) -> None:
        limit = self._config.limits.handshake
        try:
            async with asyncio.timeout(limit):
                await session.initialize()
        except TimeoutError:
            noise = "; it wrote lines that are not JSON" if self.faults.counts[NOT_JSON] else ""
            raise ConnectorError(f"did not answer the handshake within {limit:g} s{noise}") from None
        except ValidationError:
            raise ConnectorError("answered the handshake with something else than the protocol says") from None
        except (sdk.exceptions.MCPError, RuntimeError) as error:
            raise ConnectorError(f"refused the handshake: {error}") from error

    async def _settle(self, capabilities: Mapping[str, Json]) -> bool:
        """Find the grant; returns whether its tools may be used."""
        tools = isinstance(capabilities.get("tools"), Mapping)
        manifest = _object(capabilities.get("experimental")).get("mcpl")
        if self._config.protocol == "mcp":
            return tools
        if not isinstance(manifest, Mapping):
            self.faults.add("is a plain MCP server", "it has tools at most, and no channels")
            return tools
        self._has_manifest = True
        return await self.policy.settle(manifest, tools=tools)

    async def _first_tools(self, tasks: asyncio.TaskGroup) -> None:
        """Have the tools before it is shown online, so that a first request already holds them."""
        listing = tasks.create_task(self.mcp.list_tools(), name=f"{self._config.name}: first tools")
        await asyncio.wait({listing}, timeout=self._config.limits.tools)
        if not listing.done():
            listing.add_done_callback(lambda _: self.mcp.changed())

    async def _consume(self, splitter: Splitter, side: McplSide) -> NoReturn:
        while True:
            message = await splitter.inbox.take()
            if splitter.congested:
                await splitter.drain()
            if message["method"] in NOTIFICATIONS and "id" not in message:
                await self.mcp.notified(message)
            else:
                await side.take(message)

    async def _ping(self, splitter: Splitter) -> NoReturn:
        """Two in a row unanswered: it hangs. Silence does not count while it is we who do not read (F-15)."""
        never, every, missed = asyncio.Event(), self._config.ping, 0
        await self._clock.wait(never, every)
        while missed < 2:
            stops = splitter.inbox.stops
            answer = splitter.requests.send("ping", {}, 4 * every)
            answer.add_done_callback(_seen)
            await self._clock.wait(never, every)
            ours = splitter.inbox.stopped or splitter.inbox.stops != stops
            missed = 0 if answer.done() or ours else missed + 1
        raise ConnectorError("did not answer two pings in a row")


def _seen(answer: asyncio.Future[Mapping[str, Json]]) -> None:
    if not answer.cancelled():
        answer.exception()


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
