"""Sorting: HITs handed out, every action kept, responses submitted."""
