"""The demo's chat: a team's conversation in five channels, said over and over by the chat server beside this file.

Some of it is meant for the agent, some comes from bots, has pictures, or is edited a little later: what the bridge to
a chat platform would send. With `--rate` the same program is the load test of the recipe `firehose` instead.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import signal
from random import Random

from cockpit.core.message import Json
from cockpit.demo.conversation import MIDDLE, OPENING, PEOPLE, PREFIX, THANKS, TOPICS, Said, numbers
from cockpit.demo.firehose import MOST_A_SECOND, MOST_CHANNELS, Firehose, Load
from cockpit.demo.picture import chart
from cockpit.demo.server import ChatServer
from cockpit.demo.wire import Object

UNANSWERED = 50
"""Messages that may wait for the host's answer; then the conversation waits too."""
EDIT_AFTER = 3
"""How many messages later an edit follows what it edits."""


class Chat(ChatServer):
    """The whole server. speed: how many times faster than life. seed: of everything but ids and times."""

    def __init__(self, nick: str, speed: float, seed: int) -> None:
        super().__init__(nick, TOPICS, PREFIX, UNANSWERED)
        self.speed = speed
        self.dice = Random(seed)  # noqa: S311  # a conversation's rhythm, not a secret
        self.spoken_in, self.spoken = "", asyncio.Event()

    def spoke(self, channel: str) -> None:
        self.spoken_in = channel
        self.spoken.set()

    async def play(self) -> None:
        """Go round and round while at least one channel is open."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.thank(), name="thank")
            await self.rounds()

    async def rounds(self) -> None:
        turn = 0
        while True:
            await self.round(turn)
            turn += 1

    async def round(self, turn: int) -> None:
        """Say everything once; the first time it begins quickly, so that there is something to see at once."""
        edits: list[tuple[int, str, Object]] = []
        for place, said in enumerate((*OPENING, *MIDDLE)):
            quick = turn == 0 and place < len(OPENING)
            await self.pause(0.25, 0.6) if quick else await self.pause(2.0, 5.0)
            await self.listening.wait()
            message = self.new_id()
            await self.say(said.channel, self.spell(said, said.text, message, turn))
            if said.edited:
                edits.append((place + EDIT_AFTER, said.channel, self.spell(said, said.edited, message, turn, "edited")))
            for due, channel, edit in edits:
                if due == place:
                    await self.say(channel, edit)

    def spell(self, said: Said, text: str, message: str, turn: int, change: str = "") -> Object:
        """One line of the conversation as it goes over the wire in round `turn`."""
        content: list[Json] = [{"type": "text", "text": text.format_map(numbers(self.nick, turn))}]
        tags = ["chat:addressed", f"chat:{said.to}"] if said.to else ["chat:ambient"]
        tags.append("chat:from-bot" if said.author.endswith("bot") else "chat:from-human")
        if said.chart and not change:
            data = base64.b64encode(chart(self.dice)).decode()
            content.append({"type": "image", "mimeType": "image/png", "data": data})
            tags.append("chat:has-image")
        if change:
            tags.append(f"chat:{change}")
        author = {"id": said.author, "name": PEOPLE[said.author]}
        return self.message(said.channel, message, author, content, tags)

    async def thank(self) -> None:
        """Somebody answers the agent now and then, to nobody in particular: an answer must not call for another."""
        while True:
            await self.spoken.wait()
            self.spoken.clear()
            await self.pause(2.0, 5.0)
            author = self.dice.choice([each for each in PEOPLE if not each.endswith("bot")])
            said = Said(self.spoken_in, author, self.dice.choice(THANKS))
            await self.say(said.channel, self.spell(said, said.text, self.new_id(), 0))
            await self.pause(15.0, 20.0)

    async def pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self.dice.uniform(least, most) / self.speed)


def main() -> None:
    """The console script `cockpit-demo-chat`."""
    parser = argparse.ArgumentParser(prog="cockpit-demo-chat", description="A made-up team chat that speaks MCPL.")
    parser.add_argument("--nick", default="scout", help="what people call the agent")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times faster than life")
    parser.add_argument("--seed", type=int, default=17, help="of the rhythm, so that two runs are alike")
    load = parser.add_argument_group("load", "instead of the conversation, as in the recipe `firehose`")
    load.add_argument("--rate", type=float, default=0.0, help="messages a second over all channels")
    load.add_argument("--channels", type=int, default=20, help="how many channels they are spread over")
    load.add_argument("--messages", type=int, default=0, help="fall silent after so many; 0 for never")
    load.add_argument("--mention", type=int, default=0, help="every so many-th is meant for the agent; 0 for none")
    given = parser.parse_args()
    if not 0 < given.speed < float("inf"):
        parser.error("--speed must be a number above 0")
    if not 0 <= given.rate <= MOST_A_SECOND:
        parser.error(f"--rate must be a number from 0 to {MOST_A_SECOND}")
    if not 1 <= given.channels <= MOST_CHANNELS:
        parser.error(f"--channels must be from 1 to {MOST_CHANNELS}")
    if min(given.messages, given.mention) < 0:
        parser.error("--messages and --mention must not be below 0")
    # The reading thread cannot be interrupted; without this, Ctrl-C would wait for one more line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run(given))


async def run(given: argparse.Namespace) -> None:
    """Serve until standard input ends; a host that went away is no error."""
    try:
        if given.rate:
            await Firehose(given.nick, Load(given.rate, given.channels, given.messages, given.mention)).serve()
        else:
            await Chat(given.nick, given.speed, given.seed).serve()
    except* BrokenPipeError:
        pass


if __name__ == "__main__":
    main()
