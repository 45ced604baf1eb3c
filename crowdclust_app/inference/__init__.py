"""Answers in, beliefs out; arrays only."""
