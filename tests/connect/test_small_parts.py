"""The parts that hold one thought each: our own words, the rate, faults, secrets, the stderr log."""

from __future__ import annotations

import stat
from pathlib import Path

from cockpit.connect.faults import Faults, Secrets, one_line
from cockpit.connect.own import Own
from cockpit.connect.rate import Rate
from cockpit.connect.stderr import StderrLog
from cockpit.testing.clock import FakeClock


class TestOwn:
    """N-5: our own messages come back and wake nobody."""

    def test_an_echo_is_known_by_its_id_for_good(self) -> None:
        own = Own(FakeClock().elapsed)
        own.published("a", "hello", "m1")
        assert own.holds("a", "m1", "edited since")
        assert own.holds("a", "m1", "again")
        assert not own.holds("b", "m1", "hello")

    def test_an_echo_before_the_answer_is_known_by_its_words_once(self) -> None:
        own = Own(FakeClock().elapsed)
        own.said("a", "hello")
        assert own.holds("a", "m1", "hello")
        assert not own.holds("a", "m2", "hello")
        assert own.holds("a", "m1", "hello")

    def test_words_that_were_refused_or_are_old_are_somebody_elses(self) -> None:
        clock = FakeClock()
        own = Own(clock.elapsed)
        own.said("a", "yes")
        own.failed("a", "yes")
        assert not own.holds("a", "m1", "yes")
        own.said("a", "yes")
        clock.advance(61)
        assert not own.holds("a", "m1", "yes")

    def test_its_memory_is_bounded(self) -> None:
        own = Own(FakeClock().elapsed)
        for number in range(1001):
            own.published("a", "", str(number))
        assert not own.holds("a", "0", "")
        assert own.holds("a", "1000", "")


class TestRate:
    """mcpl.md 14: none unless the recipe sets one; A-7: a duplicate takes nothing from it."""

    def test_none_lets_everything_pass(self) -> None:
        rate = Rate(None, FakeClock().elapsed)
        assert all(rate.take() for _ in range(10_000))

    def test_so_many_a_second(self) -> None:
        clock = FakeClock()
        rate = Rate(3, clock.elapsed)
        assert [rate.take() for _ in range(4)] == [True, True, True, False]
        clock.advance(0.4)
        assert [rate.take() for _ in range(2)] == [True, False]

    def test_less_than_one_a_second_still_passes_one(self) -> None:
        clock = FakeClock()
        rate = Rate(0.1, clock.elapsed)
        assert [rate.take(), rate.take()] == [True, False]
        clock.advance(10)
        assert rate.take()

    def test_what_was_a_duplicate_is_given_back(self) -> None:
        rate = Rate(1, FakeClock().elapsed)
        assert rate.take()
        rate.give_back()
        assert rate.take()


class TestFaults:
    def test_each_kind_is_said_at_its_powers_of_ten(self) -> None:
        said: list[str] = []
        faults = Faults(said.append, Secrets(()))
        for _ in range(150):
            faults.add("noise", "line")
        faults.add("other")
        assert said == ["noise: line", "noise: line (10 times so far)", "noise: line (100 times so far)", "other"]
        assert faults.counts["noise"] == 150

    def test_secrets_are_hidden_and_lines_are_one(self) -> None:
        said: list[str] = []
        faults = Faults(said.append, Secrets([("TOKEN", "s3cret-value"), ("MODE", "on")]))
        faults.add("wrote", "a\x1b[2J\n s3cret-value on\u202e")
        assert said == ["wrote: a [2J  [TOKEN] on"]

    def test_a_long_line_is_clipped(self) -> None:
        assert len(one_line("x" * 100_000)) == 301


class TestStderrLog:
    """F-11: what a server shouts goes to a file of its own."""

    def test_lines_are_counted_kept_and_written_for_nobody_else(self, tmp_path: Path) -> None:
        log = StderrLog(tmp_path / "deep" / "s.log", Secrets(()), 1000)
        log.feed(b"one\ntwo\nth")
        log.feed(b"ree\n")
        assert log.lines == 3
        assert log.tail == ("one", "two", "three")
        assert log.last_words == "three"
        assert log.path.read_text() == "one\ntwo\nthree\n"
        assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
        log.close()

    def test_an_unfinished_line_counts_at_the_end(self, tmp_path: Path) -> None:
        log = StderrLog(tmp_path / "s.log", Secrets(()), 1000)
        log.feed(b"Traceback")
        assert log.lines == 0
        log.close()
        assert (log.lines, log.last_words) == (1, "Traceback")

    def test_it_never_grows_beyond_two_files(self, tmp_path: Path) -> None:
        log = StderrLog(tmp_path / "s.log", Secrets(()), 100)
        for number in range(1000):
            log.feed(f"line {number}\n".encode())
        log.close()
        assert log.lines == 1000
        files = sorted(tmp_path.iterdir())
        assert [each.name for each in files] == ["s.log", "s.log.1"]
        assert all(each.stat().st_size <= 100 for each in files)
        assert log.path.read_text().endswith("line 999\n")

    def test_a_flood_in_one_piece_is_bounded_too(self, tmp_path: Path) -> None:
        log = StderrLog(tmp_path / "s.log", Secrets(()), 100)
        log.feed(b"x" * 1_000_000)
        log.feed(b"y\n" * 1000)
        log.close()
        assert log.path.stat().st_size <= 100
        assert log.lines == 1001

    def test_secrets_and_control_characters_are_not_written(self, tmp_path: Path) -> None:
        log = StderrLog(tmp_path / "s.log", Secrets([("PASSWORD", "hunter22")]), 1000)
        log.feed(b"password hun")
        log.feed(b"ter22 \x1b[2J\xc2\x9b\x00 d\xc3\xa9j\xc3\xa0\r\n")
        log.close()
        assert log.path.read_text() == "password [PASSWORD] ?[2J?? déjà\n"

    def test_a_log_that_cannot_be_written_harms_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        log = StderrLog(tmp_path / "file" / "s.log", Secrets(()), 100)
        log.feed(b"one\n")
        assert (log.lines, log.last_words) == (1, "one")
        log.close()
