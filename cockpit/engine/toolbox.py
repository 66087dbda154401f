"""The host's own tools as a model sees them: names, descriptions and schemas, in a fixed order (N-4, S-4)."""

from __future__ import annotations

from cockpit.core.epoch import FLOORS
from cockpit.core.message import Json
from cockpit.core.policy import TuneOutDefaults
from cockpit.core.request import Tool

_CHANNEL: Json = {"type": "string", "description": "the channel's id, or its target such as channel:SERVER/ID"}


def _tool(name: str, description: str, required: tuple[str, ...] = (), **properties: Json) -> Tool:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)


def _text(description: str) -> Json:
    return {"type": "string", "description": description}


def _number(description: str) -> Json:
    return {"type": "number", "description": description}


def resident_tools(defaults: TuneOutDefaults) -> tuple[Tool, ...]:
    """A resident's own tools (N-4). The description of tune_out names the defaults, the floors and cap 0 (T-1)."""
    duration = "none" if defaults.duration is None else f"{defaults.duration:g}"
    return (
        _tool(
            "tune_out",
            "Stop hearing a chat channel or feed for a while without losing anything: your subconscious watches it, "
            "reports to you, and may call you back. What is diverted reaches you as one backlog message when the "
            "tune-out ends. "
            f"Defaults: cadence_seconds {defaults.cadence:g}, backlog_cap {defaults.cap}, max_wakes {defaults.wakes}, "
            f"duration_seconds {duration}. Floors: cadence_seconds {FLOORS['cadence_seconds']:g}, "
            f"backlog_cap {FLOORS['backlog_cap']:g}, max_wakes {FLOORS['max_wakes']:g}, "
            f"duration_seconds {FLOORS['duration_seconds']:g}; a lower value is raised to its floor. "
            "backlog_cap 0 means summary only: no raw dump.",
            ("channel",),
            channel=_CHANNEL,
            cadence_seconds=_number("seconds between your subconscious's looks"),
            backlog_cap=_number("how many of the newest messages the dump shows at most"),
            max_wakes=_number("how often an addressed message may wake your subconscious before the tune-out ends"),
            duration_seconds=_number("seconds after which it ends by itself"),
        ),
        _tool(
            "cancel_tune_out",
            "End a tune-out now. You get what you missed in one message.",
            ("channel",),
            channel=_CHANNEL,
        ),
        _tool(
            "mute_channel",
            "Mute a channel or server in your own layer: nothing from it reaches you until you unmute it; nothing is "
            "lost and nothing is stopped. The operator's layer is apart from yours. To mute the operator is only asked "
            "for: it waits for their yes, and then holds what they say over the Intercom, never their prompts.",
            ("channel",),
            channel=_CHANNEL,
            reason=_text("why, for the audit"),
        ),
        _tool(
            "unmute_channel",
            "Take your own mute off a channel.",
            ("channel",),
            channel=_CHANNEL,
            deliver={
                "type": "string",
                "enum": ["notice", "backlog"],
                "description": "backlog: also get what was withheld",
            },
        ),
        _tool(
            "channel_list",
            "List every channel with its state, who muted it, how much is held, and its tune-out. Muted and "
            "tuned-out channels are alive; offline and killed ones are not.",
        ),
        _tool("channel_open", "Open a chat channel, so that its server sends it.", ("channel",), channel=_CHANNEL),
        _tool(
            "channel_close",
            "Close a chat channel. A tuned-out one is cancelled first.",
            ("channel",),
            channel=_CHANNEL,
        ),
        _tool(
            "channel_publish",
            "Say something in a chat channel. Nothing else that you write reaches a channel.",
            ("channel", "text"),
            channel=_CHANNEL,
            text=_text("what to say"),
        ),
        _tool(
            "fetch_history",
            "Read a channel's stored messages, newest first, in pages. It reads everything, diverted messages too: "
            "what it returns of those is your own explicit look at them, not something that was sent to you.",
            ("channel",),
            channel=_CHANNEL,
            limit=_number("messages a page, 50 unless said, 200 at most"),
            before=_number("only messages older than this number, as the page before gave it"),
        ),
        _tool(
            "intercom_send",
            "Say something over the Intercom: to another resident by name, to a feed as feed:NAME, or to a participant "
            "who spoke to you, by their handle.",
            ("to", "text"),
            to=_text("a resident's name, feed:NAME, or a participant's handle"),
            text=_text("what to say"),
        ),
    )


def subconscious_tools(*, speech: bool) -> tuple[Tool, ...]:
    """The subconscious's tools (S-4); `speak_in_channel` only where the recipe allows it."""
    speak = (
        _tool(
            "speak_in_channel",
            "Say something in a channel, in your own name.",
            ("channel", "text"),
            channel=_CHANNEL,
            text=_text("what to say"),
        ),
    )
    return (
        _tool(
            "deliver_summary",
            "Give the resident your report, verbatim and under your name. It wakes nobody by itself.",
            ("text", "channel"),
            text=_text("the report, in the second person"),
            channel=_CHANNEL,
        ),
        _tool(
            "cancel_tuneout",
            "End a tune-out because the resident is needed there. With text, your note goes to the resident beside "
            "the backlog.",
            ("channel",),
            channel=_CHANNEL,
            text=_text("your note to the resident"),
        ),
        _tool(
            "note_disposition",
            "Keep a standing note for yourself under a key; an empty text deletes it.",
            ("key", "text"),
            key=_text("the note's name"),
            text=_text("the note"),
        ),
        *(speak if speech else ()),
        _tool("think", "Think in writing; nobody reads it.", ("text",), text=_text("your thought")),
        _tool("skip_reply", "There is nothing to report."),
        _tool("end_turn", "You are done for now."),
    )


SUBCONSCIOUS_ONLY = frozenset(
    {
        "deliver_summary",
        "cancel_tuneout",
        "note_disposition",
        "speak_in_channel",
        "think",
        "skip_reply",
        "end_turn",
    }
)
"""What a resident is refused at dispatch (S-4, K-97)."""

ENDS_TURN = frozenset({"skip_reply", "end_turn"})
"""Calls after which the turn is over without another request."""
