"""The owner of all tasks: admission, store, effects; agents, timers and events around one loop."""
