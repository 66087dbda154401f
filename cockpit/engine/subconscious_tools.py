"""What the subconscious's tools do (S-4 to S-7): its words reach a resident only here, verbatim and under its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cockpit.core.message import RESIDENTS, Json, Message, Text
from cockpit.core.records import Report, Snapshot, WakeRequest
from cockpit.core.text import sanitise
from cockpit.core.world import Actor
from cockpit.engine import arguments as read
from cockpit.engine.acts import Acts
from cockpit.engine.directory import Directory
from cockpit.engine.ledger import Draft, Ledger
from cockpit.engine.resident_tools import Publisher
from cockpit.errors import ToolError


@dataclass(slots=True)
class SubconsciousTools:
    """Dispatch for the subconscious. notes are its standing dispositions, kept in a snapshot slot (S-7)."""

    actor: Actor
    primary: str
    acts: Acts
    directory: Directory
    ledger: Ledger
    publisher: Publisher
    notes: dict[str, str]
    summary_wakes: bool = False
    speech: bool = False

    async def call(self, name: str, values: Mapping[str, Json]) -> str:
        match name:
            case "deliver_summary":
                return await self._summary(values)
            case "cancel_tuneout":
                target = self.directory.find(read.text(values, "channel"))
                return await self.acts.cancel(target, self.actor, note=read.optional_text(values, "text"))
            case "note_disposition":
                return await self._note(values)
            case "speak_in_channel" if self.speech:
                target = self.directory.find(read.text(values, "channel"))
                return await self.publisher.publish(target, read.text(values, "text"))
            case "think":
                read.text(values, "text")
                return "Noted by nobody."
            case "skip_reply" | "end_turn":
                return "Done."
            case _:
                raise ToolError(f"the subconscious has no tool {name!r}")

    async def _summary(self, values: Mapping[str, Json]) -> str:
        text = sanitise(read.text(values, "text"))
        target = self.directory.find(read.text(values, "channel"))

        def write(draft: Draft) -> None:
            draft.write(Message(RESIDENTS, "agent", self.actor.name, (Text(text),), draft.wall, target=str(target)))
            draft.write(Report(self.actor.name, "summary", text, draft.wall, str(target)))
            if self.summary_wakes:
                draft.write(WakeRequest(self.primary, "summary", draft.wall))

        await self.ledger.do(write)
        return "Delivered."

    async def _note(self, values: Mapping[str, Json]) -> str:
        key = " ".join(sanitise(read.text(values, "key")).split())
        text = sanitise(read.optional_text(values, "text") or "")
        notes = {**self.notes, key: text}
        if not text:
            del notes[key]

        def write(draft: Draft) -> None:
            draft.write(Snapshot(f"dispositions/{self.actor.name}", dict(notes), draft.wall))
            draft.write(
                Report(self.actor.name, "disposition", f"{key}: {text}" if text else f"{key} deleted", draft.wall)
            )

        await self.ledger.do(write)
        self.notes.clear()
        self.notes.update(notes)
        return "Kept." if text else "Deleted."


Dispatch = Callable[[str, Mapping[str, Json]], Awaitable[str]]
"""A tool's name and arguments to the text that the agent reads."""
