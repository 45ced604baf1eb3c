"""Verification: yes/no questions about single photos, and what comes of them."""
