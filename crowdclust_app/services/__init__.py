"""Use cases; the only code that writes to storage."""
