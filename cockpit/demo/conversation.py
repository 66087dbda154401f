"""What the demo chat says: one team, a release week, five channels. Made up for this demo, and played in a loop.

`{nick}` is the agent's name; the other braces are numbers that differ from round to round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PREFIX = "disc:guild:"
"""What each channel id begins with, as a platform with guilds spells it."""

TOPICS = {
    "noisy": "everything and nothing",
    "release": "release week",
    "ops": "what is on fire",
    "help": "questions, asked nicely",
    "random": "not work",
}
"""The channels, in the order in which they are registered, with what each is about."""

PEOPLE = {
    "mira": "Mira",
    "tobi": "tobi",
    "annkristin": "Ann-Kristin",
    "rafael": "Rafael",
    "yuzu": "柚子",
    "gus": "Old Gus",
    "deploybot": "deploybot",
}
"""Names by id. Ids that end in `bot` are programs."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message. to: how it is meant for the agent, if it is. edited: what its author makes of it a little later.
    chart: it carries a picture too."""

    channel: str
    author: str
    text: str
    to: Literal["", "mention", "reply"] = ""
    edited: str = ""
    chart: bool = False


OPENING: tuple[Said, ...] = (
    Said("noisy", "tobi", "good morning everyone ☕ who broke the coffee machine"),
    Said("noisy", "gus", "It was broken when I came in at six. It is always broken when I come in at six."),
    Said("release", "mira", "4.2.{patch}: branch is cut. Build {build} is the candidate."),
    Said("noisy", "yuzu", "おはよう! the machine wants to be descaled, it says so on its tiny screen"),
    Said("noisy", "tobi", "it says E-17. nobody has ever known what E-17 is"),
    Said("ops", "deploybot", "staging: build {build} deployed in {minutes} min, 0 failed checks"),
    Said("noisy", "rafael", "Is the release on Thursday or on Friday? I have heard both."),
    Said("noisy", "gus", "I have heard never."),
    Said(
        "noisy", "rafael", "@{nick} do you know which day the release is planned for? People here disagree.", "mention"
    ),
    Said("noisy", "tobi", "ooh he asked the robot"),
    Said("help", "yuzu", "how do I run only the slow tests? the readme says `make slow` but that target is gone"),
    Said("noisy", "gus", "Ask it about E-17 while you are there."),
    Said("release", "mira", "Open items before we can tag:\n- changelog\n- two flaky tests\n- sign-off from ops"),
    Said(
        "noisy",
        "tobi",
        "the flaky tests are not flaky, they are honest about our timing",
        edited="the flaky tests are not flaky, they are honest about our timing assumptions",
    ),
    Said(
        "ops",
        "annkristin",
        "Queue depth on the mail workers went up after the deploy. It is at {percent} % of the "
        "limit, which is fine, but I would like to see it come down before anybody tags anything.",
    ),
    Said("noisy", "yuzu", "does anyone have a descaler? 🫧"),
    Said("noisy", "gus", "Vinegar. My mother used vinegar. Nobody ever listens."),
    Said("random", "tobi", "lunch poll: 🍜 or 🥗, you have until eleven"),
    Said("noisy", "rafael", "We also still need a name for the release. Last time it was a river."),
    Said("noisy", "tobi", "i vote for E-17"),
    Said("noisy", "yuzu", "E-17 is a beautiful name +1"),
    Said("noisy", "gus", "We will be explaining that name for the rest of our lives."),
)
"""Said quickly, so that there is something to see at once; the agent is asked in the noisy channel within seconds."""

MIDDLE: tuple[Said, ...] = (
    Said("release", "rafael", "I can take the changelog if somebody tells me what changed since the last build."),
    Said(
        "release",
        "mira",
        "@{nick} please list what you know about build {build} here when you have a minute.",
        "mention",
    ),
    Said("noisy", "tobi", "vinegar is in. the machine is making a sound i have not heard before"),
    Said("ops", "annkristin", "Here is the queue over the last hour. The step is the deploy.", chart=True),
    Said("noisy", "yuzu", "is it a good sound"),
    Said("noisy", "tobi", "it is a sound"),
    Said("help", "rafael", "`pytest -m slow`, the Makefile was retired in March. I will fix the readme."),
    Said("help", "yuzu", "ありがとう!"),
    Said("noisy", "gus", "In the old office we had a kettle. One button. It worked for eleven years."),
    Said("random", "yuzu", "🍜"),
    Said("random", "rafael", "🍜, and I am not sorry."),
    Said("noisy", "rafael", "So, E-17 as the name: is that decided, or is that a joke that got out of hand?"),
    Said("noisy", "tobi", "every name we have is a joke that got out of hand"),
    Said("release", "deploybot", "flaky: test_reconnect passed on attempt 2 of 3 (build {build})"),
    Said("release", "mira", "That is one of the two. Tobi, is yours?"),
    Said(
        "release", "tobi", "mine. it waits 200 ms and the runner needs 210. fix is up: https://git.example/mr/{build}"
    ),
    Said("noisy", "yuzu", "the tiny screen now says E-18"),
    Said("noisy", "gus", "Progress."),
    Said(
        "ops",
        "annkristin",
        "Down to a third of that. I am calm again. @{nick} no action needed from you, I only want "
        "it on record that we looked.",
        "mention",
    ),
    Said("noisy", "rafael", "E-18 would be a fine name for the next one."),
    Said("noisy", "tobi", "photo of the machine for the archive. it is smiling, or it is a leak", chart=True),
    Said("noisy", "gus", "It is a leak."),
    Said(
        "help",
        "annkristin",
        "Who owns the calendar for the on-call week? I would like to swap my Wednesday, and the "
        "document I was pointed to is from the year before last.",
    ),
    Said("noisy", "yuzu", "i put a bucket under it 🪣"),
    Said("noisy", "yuzu", "the bucket is now load-bearing"),
    Said("random", "tobi", "🍜 wins, three to one, table for four at half past twelve"),
    Said("random", "gus", "I voted salad. I want that remembered."),
    Said("release", "mira", "Merged. One to go. Changelog draft?"),
    Said(
        "release",
        "rafael",
        "Draft:\n1. reconnects no longer lose the last message\n2. the mail workers retry twice\n"
        "3. “E-17” (we need to talk about this)",
    ),
    Said(
        "noisy",
        "rafael",
        "@{nick} last question, promise: should the release note mention the coffee machine at all?",
        "reply",
    ),
    Said("noisy", "tobi", "absolutely it should"),
    Said("noisy", "gus", "Over my dead body."),
    Said("ops", "deploybot", "production: maintenance window starts in {minutes} min"),
    Said("noisy", "yuzu", "who is getting the repair person? they only answer the phone until three"),
    Said("noisy", "tobi", "i called. they asked whether we had tried vinegar"),
    Said("noisy", "gus", "I rest my case."),
    Said("help", "rafael", "The on-call calendar is Mira's now; I have asked her to pin the new one."),
    Said("release", "mira", "Ops, are you signed off?"),
    Said(
        "release",
        "annkristin",
        "Signed off, with one condition: nobody deploys between two and three, because the "
        "certificates are renewed then and I want to watch that without company.",
    ),
    Said("release", "mira", "Understood. Tag at half past three then."),
    Said("noisy", "tobi", "bets on the tag being at half past three? i say four"),
    Said("noisy", "rafael", "Quarter past five."),
    Said("noisy", "yuzu", "E-19"),
)
"""Said at a calmer pace, after the opening; then the round begins again with other numbers."""

THANKS = ("thanks, {nick} 🙏", "Noted, thank you.", "that helps", "ありがとう!", "Good to know.")
"""What somebody says after the agent spoke in a channel: to nobody in particular, so that it answers nothing."""


def numbers(nick: str, turn: int) -> dict[str, str | int]:
    """What fills the braces in round `turn`, which counts from 0."""
    return {
        "nick": nick,
        "patch": turn,
        "build": 1180 + 7 * turn,
        "minutes": 3 + turn % 9,
        "percent": 55 + 11 * turn % 40,
    }
