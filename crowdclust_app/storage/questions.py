"""Question sets, and the log of what workers said to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, text, update

from crowdclust_app.domain.questions import Answer, AnswerKind, Policy, QuestionSet
from crowdclust_app.storage import chain, schema
from crowdclust_app.storage.catalogue import texts
from crowdclust_app.storage.times import from_text, to_text

UNDO = "undo"


@dataclass(frozen=True, slots=True)
class QuestionEvent:
    """One row of the log; `undoes` is the event that an undo takes back."""

    number: int
    item: int
    worker: int
    kind: str
    undoes: int | None


def insert_set(
    connection: Connection,
    *,
    sentence: str,
    items: Sequence[int],
    wanted: int,
    policy: Policy,
    seed: int,
    run: int | None,
    cluster: int | None,
    method: str,
    now: datetime,
) -> int:
    """Add a question set; returns its number."""
    result = connection.execute(
        insert(schema.question_sets).values(
            sentence=sentence,
            wanted=wanted,
            policy=policy.value,
            seed=seed,
            run=run,
            cluster=cluster,
            method=method,
            created_at=to_text(now),
        )
    )
    (number,) = result.inserted_primary_key or (0,)
    connection.execute(
        insert(schema.questions),
        [{"question_set": number, "item": item, "position": position} for position, item in enumerate(items)],
    )
    return int(number)


def sets(connection: Connection, number: int | None = None) -> tuple[QuestionSet, ...]:
    """Every question set, or the one of this number, oldest first."""
    columns, inside = schema.question_sets.c, schema.questions.c
    statement = select(schema.question_sets).order_by(columns.number)
    members = select(inside.question_set, inside.item).order_by(inside.question_set, inside.position)
    if number is not None:
        statement = statement.where(columns.number == number)
        members = members.where(inside.question_set == number)
    items: dict[int, list[int]] = {}
    for question_set, item in connection.execute(members):
        items.setdefault(question_set, []).append(item)
    return tuple(
        QuestionSet(
            number=row.number,
            sentence=row.sentence,
            items=tuple(items.get(row.number, ())),
            wanted=row.wanted,
            policy=Policy(row.policy),
            seed=row.seed,
            run=row.run,
            cluster=row.cluster,
            method=row.method,
            created_at=from_text(row.created_at),
        )
        for row in connection.execute(statement)
    )


def choose_method(connection: Connection, number: int, method: str) -> None:
    """Say whose verdict counts."""
    columns = schema.question_sets.c
    connection.execute(update(schema.question_sets).where(columns.number == number).values(method=method))


def insert_event(
    connection: Connection,
    *,
    question_set: int,
    item: int,
    worker: int,
    kind: str,
    seconds: float,
    now: datetime,
    undoes: int | None = None,
) -> int:
    """Add to the log; returns the event's number."""
    row = {"question_set": question_set, "item": item, "worker": worker, "kind": kind, "seconds": seconds}
    row |= {"at": to_text(now), "undoes": undoes}
    result = connection.execute(insert(schema.question_events).values(hash=_hashes(connection, [row])[0], **row))
    (number,) = result.inserted_primary_key or (0,)
    return int(number)


def insert_answers(connection: Connection, new: Sequence[tuple[int, int, int, AnswerKind]], now: datetime) -> None:
    """Add many answers to the log, each a set, item, worker and what was said; how long they took is unknown."""
    at = to_text(now)
    rows: list[dict[str, Any]] = [
        {"question_set": number, "item": item, "worker": worker, "kind": said.value, "seconds": 0.0, "at": at}
        for number, item, worker, said in new
    ]
    if rows:
        hashed = [row | {"hash": sealed} for row, sealed in zip(rows, _hashes(connection, rows), strict=True)]
        connection.execute(insert(schema.question_events), hashed)


_BEFORE = """
    SELECT hash FROM question_events WHERE question_set = :question_set AND item = :item AND worker = :worker
    ORDER BY number DESC LIMIT 1
    """
_ALL_BEFORE = "SELECT question_set, item, worker, hash FROM question_events ORDER BY number"


def _hashes(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[str]:
    """The hash of each event that is to be added, in this order."""
    before: dict[tuple[int, int, int], str] = {}
    if len(rows) == 1 and (stored := connection.execute(text(_BEFORE), rows[0]).scalar_one_or_none()):
        before[_key(rows[0])] = stored
    elif len(rows) > 1:
        before = {(row[0], row[1], row[2]): row[3] for row in connection.exec_driver_sql(_ALL_BEFORE)}
    begun = [row for row in rows if _key(row) not in before]
    identifier = connection.exec_driver_sql("SELECT identifier FROM campaign").scalar_one()
    sentences = texts(connection, "SELECT number, sentence FROM question_sets", (row["question_set"] for row in begun))
    paths = texts(connection, "SELECT number, path FROM items", (row["item"] for row in begun))
    names = texts(connection, "SELECT number, name FROM workers", (row["worker"] for row in begun))
    hashes = []
    for row in rows:
        asked, item, worker = key = _key(row)
        if key not in before:
            before[key] = chain.question(identifier, sentences[asked], paths[item], names[worker])
        before[key] = chain.answer(before[key], row["kind"], row["seconds"], row["at"])
        hashes.append(before[key])
    return hashes


def _key(row: dict[str, Any]) -> tuple[int, int, int]:
    return row["question_set"], row["item"], row["worker"]


def events_after(connection: Connection, question_set: int, number: int) -> list[QuestionEvent]:
    """The log of a set behind this event, oldest first."""
    columns = schema.question_events.c
    statement = (
        select(columns.number, columns.item, columns.worker, columns.kind, columns.undoes)
        .where(columns.question_set == question_set, columns.number > number)
        .order_by(columns.number)
    )
    return [QuestionEvent(*row) for row in connection.execute(statement)]


def newest_event(connection: Connection, question_set: int) -> int:
    """Number of the newest event of a set; 0 without any."""
    columns = schema.question_events.c
    return int(
        connection.execute(select(func.max(columns.number)).where(columns.question_set == question_set)).scalar() or 0
    )


def standing_answers(connection: Connection, question_set: int) -> list[Answer]:
    """What was said and not taken back, oldest first."""
    rows = connection.execute(
        text(
            "SELECT number, item, worker, kind, at, seconds FROM standing_answers WHERE question_set = :q "
            "ORDER BY number"
        ),
        {"q": question_set},
    )
    return [
        Answer(row.number, row.item, row.worker, AnswerKind(row.kind), from_text(row.at), row.seconds) for row in rows
    ]


def last_answer(connection: Connection, question_set: int, worker: int) -> tuple[int, int] | None:
    """Number and item of what this worker said last and did not take back."""
    row = connection.execute(
        text(
            "SELECT number, item FROM standing_answers WHERE question_set = :q AND worker = :w "
            "ORDER BY number DESC LIMIT 1"
        ),
        {"q": question_set, "w": worker},
    ).one_or_none()
    return None if row is None else (row.number, row.item)


def has_said(connection: Connection, question_set: int, item: int, worker: int) -> bool:
    """Whether this worker has answered (or skipped) this question and not taken it back."""
    statement = text("SELECT 1 FROM standing_answers WHERE question_set = :q AND item = :i AND worker = :w").bindparams(
        bindparam("q", question_set), bindparam("i", item), bindparam("w", worker)
    )
    return connection.execute(statement).first() is not None


def answer_counts(connection: Connection) -> dict[int, tuple[int, int, float]]:
    """Labels, workers and seconds of each question set with answers."""
    rows = connection.execute(
        text(
            "SELECT question_set, count(*) AS labels, count(DISTINCT worker) AS workers, sum(seconds) AS seconds "
            "FROM standing_answers WHERE kind <> 'skip' GROUP BY question_set"
        )
    )
    return {row.question_set: (row.labels, row.workers, row.seconds) for row in rows}


def learning(connection: Connection, question_set: int) -> str | None:
    """How a set learns from its images, as JSON; None where it does not."""
    columns = schema.question_sets.c
    found = connection.execute(select(columns.learning).where(columns.number == question_set)).scalar()
    return None if found is None else str(found)


def set_learning(connection: Connection, question_set: int, settings: str | None) -> None:
    """Say how a set learns from its images, as JSON; None for not at all."""
    columns = schema.question_sets.c
    connection.execute(update(schema.question_sets).where(columns.number == question_set).values(learning=settings))
