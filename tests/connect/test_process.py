"""A server's process: how it is found and started, what it is given, and that nothing of it stays (F-10, F-11, R-7)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.faults import Secrets
from cockpit.connect.process import Process, environment, find
from cockpit.connect.stderr import StderrLog
from cockpit.errors import ConnectorError
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.served import FIXTURE, Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]


def gone(pid: int) -> bool:
    """Whether no such process runs; one that nobody has reaped yet runs no more."""
    try:
        os.kill(pid, 0)
        if not Path("/proc/self/stat").exists():
            return False
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in {"Z", "X"}


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(10):
        while not all(map(gone, pids)):  # noqa: ASYNC110 - no event tells of the end of somebody's child
            await asyncio.sleep(0)


@pytest.fixture
def log(tmp_path: Path) -> StderrLog:
    return StderrLog(tmp_path / "s.log", Secrets(()), 1000)


def executable(path: Path) -> Path:
    path.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class TestFinding:
    def test_on_path_first_and_then_beside_the_running_python(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        venv, elsewhere = tmp_path / "venv", tmp_path / "bin"
        venv.mkdir()
        elsewhere.mkdir()
        monkeypatch.setattr(sys, "executable", str(venv / "python"))
        beside = executable(venv / "server")
        assert find("server", str(elsewhere)) == str(beside)
        on_path = executable(elsewhere / "server")
        assert find("server", str(elsewhere)) == str(on_path)

    async def test_a_command_that_does_not_exist_is_one_clear_line(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(command=("no-such-server", "--x")), until="nothing")
        offline = await served.host.until_presence("offline")
        assert offline.reason == f"no program 'no-such-server', neither on PATH nor beside {Path(sys.executable).name}"
        assert not offline.crashed

    async def test_a_file_that_cannot_be_run_is_one_clear_line(self, tmp_path: Path, log: StderrLog) -> None:
        (tmp_path / "plain").write_text("text", encoding="utf-8")
        for command in ((str(tmp_path / "plain"),), ("",), (), ("sh", "a\0b")):
            with pytest.raises(ConnectorError) as raised:
                await Process.start(command, environment({}), log)
            assert "\n" not in str(raised.value)


class TestEnvironment:
    async def test_a_server_gets_what_it_needs_and_what_its_recipe_names(
        self, serve: Serve, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        monkeypatch.setenv("XDG_DATA_HOME", "/x")
        served = await serve(config=config(env={"IRC_PASSWORD": "hunter22", "LANG": "xx"}))
        found = await served.remote.do("environment")
        assert isinstance(found, dict)
        assert "ANTHROPIC_API_KEY" not in found
        assert found["IRC_PASSWORD"] == "hunter22"
        assert (found["LC_ALL"], found["XDG_DATA_HOME"], found["LANG"]) == ("C.UTF-8", "/x", "xx")
        assert found["PATH"] == os.environ["PATH"]

    def test_secrets_are_not_shown_with_the_configuration(self) -> None:
        config = ServerConfig("s", "mcp", ("x",), env={"TOKEN": "s3cret"})
        assert "s3cret" not in repr(config)

    async def test_secrets_stand_in_no_log_and_in_no_reason(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(env={"TOKEN": "s3cret-token"}))
        await served.remote.do("raw", text="connecting with s3cret-token\n")
        await served.remote.do("stderr", lines=1, text="s3cret-token was refused")
        served.remote.tell("exit", code=1)
        offline = await served.host.until_presence("offline")
        assert offline.reason == "exited with code 1: [TOKEN] was refused 0"
        assert "wrote a line that is not JSON: connecting with [TOKEN]" in served.host.faults
        assert "s3cret" not in (served.logs / "fix.log").read_text(encoding="utf-8")


class TestStderr:
    async def test_shouting_goes_to_the_file_and_nowhere_else(
        self, serve: Serve, capfd: pytest.CaptureFixture[str]
    ) -> None:
        served = await serve("--shout", "50")  # F-11
        await served.remote.do("stderr", lines=50, text="later\x1b[2J")
        served.remote.tell("crash")
        offline = await served.host.until_presence("offline")
        assert offline.reason == "was ended by SIGKILL: later?[2J 49"
        lines = (served.logs / "fix.log").read_text(encoding="utf-8").splitlines()
        assert (len(lines), lines[0], lines[-1]) == (100, "starting 0", "later?[2J 49")
        assert capfd.readouterr() == ("", "")
        assert served.server.stderr.lines == 100

    async def test_the_last_words_are_those_of_the_last_run(self, serve: Serve) -> None:
        served = await serve("--shout", "1")
        for times, reason in ((1, "exited with code 5: starting 0"), (2, "exited with code 5: starting 0")):
            served.remote.tell("exit", code=5)
            assert (await served.host.until_presence("offline", times)).reason == reason
            await served.server.start()
            await served.online(times + 1)
        assert served.server.stderr.tail == ("starting 0",)
        assert served.server.stderr.lines == 3

    async def test_a_flood_on_stderr_stops_nothing(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(limits=Limits(stderr=10_000)))
        await served.remote.do("stderr", lines=200_000)
        assert (await served.server.call("echo", {})).content
        sizes = [each.stat().st_size for each in served.logs.iterdir()]
        assert len(sizes) == 2
        assert max(sizes) <= 10_000


class TestReading:
    async def test_what_nobody_reads_stops_the_server_and_not_our_memory(self, log: StderrLog) -> None:
        command = ("sh", "-c", "head -c 20000000 /dev/zero; echo done >&2")
        process = await Process.start(command, environment({}), log)
        done = asyncio.ensure_future(asyncio.Event().wait())
        await asyncio.wait({done}, timeout=0.5)
        done.cancel()
        assert log.lines == 0, "it is not done: its pipe is full"
        size = 0
        while chunk := await process.read():
            size += len(chunk)
        assert size == 20_000_000
        assert str(await process.fate()) == "exited with code 0: done"
        await process.end(1)


class TestEnding:
    async def test_nothing_is_left_of_a_server_and_its_children(self, serve: Serve) -> None:  # F-10
        served = await serve()
        pid, child = await served.remote.do("pid"), await served.remote.do("spawn")
        assert isinstance(pid, int)
        assert isinstance(child, int)
        await served.server.kill()
        await until_gone(pid, child)

    async def test_a_server_that_heeds_neither_its_stdin_nor_sigterm_is_killed(
        self, serve: Serve, config: Config
    ) -> None:  # F-10
        served = await serve("--stubborn", config=config(limits=Limits(grace=0.1)))
        pid = await served.remote.do("pid")
        assert isinstance(pid, int)
        await served.server.kill()
        await until_gone(pid)

    async def test_a_polite_server_ends_with_its_stdin(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(limits=Limits(grace=30)))
        await served.server.kill()
        assert served.host.words()[-1] == "killed"

    async def test_a_child_that_holds_the_output_open_does_not_hide_the_death(self, serve: Serve) -> None:  # F-15
        served = await serve()
        child = await served.remote.do("spawn")
        assert isinstance(child, int)
        served.remote.tell("crash")
        offline = await served.host.until_presence("offline")
        assert offline.crashed
        await until_gone(child)

    async def test_a_server_in_a_session_of_its_own_cannot_reach_our_terminal(self, serve: Serve) -> None:  # F-11
        served = await serve()
        pid = await served.remote.do("pid")
        assert isinstance(pid, int)
        assert os.getsid(pid) == pid != os.getsid(0)


_HOST = """
import asyncio, sys
from pathlib import Path
from cockpit.connect.config import ServerConfig
from cockpit.connect.supervisor import supervise
from cockpit.testing.host import RecordingHost
from cockpit.testing.clock import FakeClock

async def main():
    host = RecordingHost()
    config = ServerConfig("fix", "mcpl", tuple(sys.argv[2:]))
    server = supervise(config, host, logs=Path(sys.argv[1]), clock=FakeClock())
    running = asyncio.ensure_future(server.run())
    await host.until_presence("online")
    print("online", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    running.cancel()
    await asyncio.wait({running})

asyncio.run(main())
"""

_CANCELLED = """
import asyncio, sys
from pathlib import Path
from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.supervisor import supervise
from cockpit.testing.host import RecordingHost
from cockpit.testing.clock import FakeClock

async def main():
    config = ServerConfig("cat", "mcp", ("cat",), limits=Limits(grace=0.05))
    for ticks in range(120):
        server = supervise(config, RecordingHost(), logs=Path(sys.argv[1]), clock=FakeClock())
        running = asyncio.ensure_future(server.run())
        for _ in range(ticks * 4):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait({running})

asyncio.run(main())
"""


class TestHost:
    """The cockpit's own end takes its servers with it."""

    @staticmethod
    async def started(remote: Remote, logs: Path) -> tuple[asyncio.subprocess.Process, int]:
        """A host in a process of its own, and the pid of its server. Where the kernel tells a child of its parent's
        death that server would rather stay."""
        stubborn = ("--stubborn",) if sys.platform == "linux" else ()
        command = (*FIXTURE, *stubborn, "--control", str(remote.path))
        pipe = asyncio.subprocess.PIPE
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", _HOST, str(logs), *command, stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert host.stdout is not None
        await remote.connected()
        assert await host.stdout.readline() == b"online\n"
        pid = await remote.do("pid")
        assert isinstance(pid, int)
        return host, pid

    async def test_killed_with_9(self, tmp_path: Path) -> None:  # F-10
        async with Remote(tmp_path / "c") as remote:
            host, pid = await self.started(remote, tmp_path)
            host.send_signal(signal.SIGKILL)
            await host.communicate()
            await until_gone(pid)

    async def test_ended_in_order_and_in_silence(self, tmp_path: Path) -> None:  # F-42
        async with Remote(tmp_path / "c") as remote:
            host, pid = await self.started(remote, tmp_path)
            _, said = await host.communicate(b"")
            assert (host.returncode, said) == (0, b"")
            assert gone(pid)

    async def test_ended_in_the_middle_of_a_handshake_in_silence(self, tmp_path: Path) -> None:  # F-42
        program = _HOST.replace('until_presence("online")', 'until_presence("connecting")')
        pipe = asyncio.subprocess.PIPE
        host = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", program, str(tmp_path)),
            *(*FIXTURE, "--silent", "initialize", "--garbage", "hello"),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        _, said = await host.communicate(b"")
        assert (host.returncode, said) == (0, b"")

    async def test_ended_at_any_moment_of_a_start_in_silence(self, tmp_path: Path) -> None:  # F-42, F-10
        pipe = asyncio.subprocess.PIPE
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", _CANCELLED, str(tmp_path), stdout=pipe, stderr=pipe
        )
        assert await host.communicate() == (b"", b"")
        assert host.returncode == 0
