"""The one screen: headline, three panes, answer, composer, legend. It routes; the widgets know how to show."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from cockpit.core.events import ChannelChanged, Link, View
from cockpit.ui.feed import Feed
from cockpit.ui.intake import Batch
from cockpit.ui.keys import bindings
from cockpit.ui.log import Log
from cockpit.ui.look import app_of
from cockpit.ui.screens.acts import Acts
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.screens.peek import PeekSheet
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.standing import Standing
from cockpit.ui.text import Safe, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.foot import AnswerLine
from cockpit.ui.widgets.headline import Headline
from cockpit.ui.widgets.panes import Panes
