"""The three panes with their title bars and the rules between them, laid out by `Shape`."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size

from cockpit.ui.shape import PANES, Pane, Shape
from cockpit.ui.text import Safe, own
from cockpit.ui.widgets.bars import TitleBar, UprightRule
from cockpit.ui.widgets.channels import Channels
from cockpit.ui.widgets.journal import Journal
from cockpit.ui.widgets.reports import Reports
from cockpit.ui.widgets.talk import Talk

_TITLES: dict[Pane, Safe] = {"channels": own("Channels"), "reports": own("Subconscious"), "talk": own("Resident")}


class Panes(Container):
    """Where everything but the four lines of the screen's edge happens. `pane` is the one that had the focus last."""

    DEFAULT_CSS = """
    Panes { height: 1fr; width: 1fr; background: $background; }
    Panes.-wide { layout: horizontal; }
    Panes.-stacked, Panes.-single { layout: vertical; }
    Panes #right { width: 1fr; height: 1fr; }
    Panes.-wide #right { layout: vertical; }
    Panes.-stacked #right { layout: horizontal; }
    Panes .pane { width: 1fr; height: 1fr; layout: vertical; }
    Panes .pane > Channels, Panes .pane > Journal { height: 1fr; }
    Panes UprightRule { height: 1fr; display: none; }
    Panes.-wide #rule-left, Panes.-stacked #rule-right { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.pane: Pane = "channels"
        self._channels = Channels(id="channels")
        self._journals: dict[Pane, Journal] = {"reports": Reports(id="reports"), "talk": Talk(id="talk")}
        self._bars = {pane: TitleBar(title) for pane, title in _TITLES.items()}
        self._shape = Shape("sentence")

    def compose(self) -> ComposeResult:
        with Container(id="pane-channels", classes="pane"):
            yield self._bars["channels"]
            yield self._channels
        yield UprightRule(id="rule-left")
        with Container(id="right"):
            with Container(id="pane-reports", classes="pane"):
                yield self._bars["reports"]
                yield self._journals["reports"]
            yield UprightRule(id="rule-right")
            with Container(id="pane-talk", classes="pane"):
                yield self._bars["talk"]
                yield self._journals["talk"]

    @property
    def channels(self) -> Channels:
        return self._channels

    @property
    def reports(self) -> Reports:
        return self.query_one(Reports)

    @property
    def talk(self) -> Talk:
        return self.query_one(Talk)

    def journal(self, pane: Pane) -> Journal | None:
        """The pane's entries, where it has any."""
        return self._journals.get(pane)

    def bar(self, pane: Pane) -> TitleBar:
        """The pane's title bar."""
        return self._bars[pane]

    def focus_pane(self, pane: Pane) -> None:
        """Give a pane the focus; where only one is shown, it is that one."""
        self.pane = pane
        if self._shape.kind == "single":
            self._show_one(pane)
        widget = self._journals.get(pane) or self._channels
        self.screen.set_focus(widget, scroll_visible=False)

    def lit(self, pane: Pane | None) -> None:
        """Show which pane has the focus."""
        for name, bar in self._bars.items():
            bar.show(focused=name == pane)

    def lay_out(self, size: Size, *, zoomed: bool) -> Shape:
        """Lay the panes out for a terminal of this size."""
        shape = Shape.of(size.width, size.height, zoomed=zoomed)
        if shape == self._shape:
            return shape
        self._shape = shape
        for kind in ("wide", "stacked", "single"):
            self.set_class(shape.kind == kind, f"-{kind}")
        left, upper = self.query_one("#pane-channels"), self.query_one("#pane-reports")
        left.styles.width = shape.left if shape.kind == "wide" else "1fr"
        left.styles.height = shape.left if shape.kind == "stacked" else "1fr"
        upper.styles.height = shape.upper if shape.kind == "wide" else "1fr"
        self.query_one("#rule-left", UprightRule).join({0: "┬", shape.upper: "├"})
        self.query_one("#rule-right", UprightRule).join({0: "┬"})
        self._show_one(self.pane if shape.kind == "single" else None)
        return shape

    def _show_one(self, shown: Pane | None) -> None:
        """Display one pane, or all."""
        for pane in PANES:
            self.query_one(f"#pane-{pane}").display = shown in {None, pane}
        self.query_one("#right").display = shown != "channels"
