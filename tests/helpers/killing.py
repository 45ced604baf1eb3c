"""Another process that works on a campaign and is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

from campaign_making import do_next

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign

Answer = tuple[int, str]


def answer_with(campaign: Campaign, name: str) -> Answer | None:
    """Sort one set: its HIT and the worker's name; None when there is none left."""
    known = {worker.name: worker for worker in campaign.workers()}
    assignment = do_next(campaign, known.get(name) or campaign.add_worker(name))
    return None if assignment is None else (assignment.hit, name)


def killed_after(path: Path, name: str, sets: int, then: Callable[[], object] = lambda: None) -> set[Answer]:
    """What another process had acknowledged when it was killed, after something happened to its file."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with contextlib.suppress(UserError):
                campaign = Campaign.open(path)
                for _ in range(sets):
                    answer = answer_with(campaign, name)
                    if answer is not None:
                        os.write(writing, b"%d\n" % answer[0])
                then()
        except Exception:  # noqa: BLE001 - whatever it is, the test has to hear of it
            os.write(writing, traceback.format_exc().encode())
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(writing)
    with os.fdopen(reading) as acknowledged:
        said = acknowledged.read()
    os.waitpid(child, 0)
    assert "Traceback" not in said, said
    return {(int(hit), name) for hit in said.split()}
