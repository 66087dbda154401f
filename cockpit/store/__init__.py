"""The chronicle: an append-only log with one sequence for everything, embedded in one SQLite file."""
