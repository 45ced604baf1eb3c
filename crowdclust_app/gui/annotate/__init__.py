"""The Annotate screen: one person sorts one set after another."""
