"""The campaign file and its plan: making, opening, reading, changing and checking it."""
