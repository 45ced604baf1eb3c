"""Stages: clusters that are subdivided, and the tree that comes of it."""
