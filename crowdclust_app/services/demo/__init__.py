"""The demo: drawn pictures, simulated people, a finished campaign."""
