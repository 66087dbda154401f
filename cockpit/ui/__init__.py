"""The screen. It speaks to a `Link` and knows no engine, store or SDK."""

from cockpit.ui.run import run_screen, run_screen_async

__all__ = ["run_screen", "run_screen_async"]
