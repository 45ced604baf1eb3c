"""Fixtures for tests of the services."""

from __future__ import annotations

from campaign_making import make_campaign, small_disk

__all__ = ["make_campaign", "small_disk"]
