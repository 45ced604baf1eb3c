"""Tables of a campaign file, schema version 3.

Answers are append-only. `events`, `responses`, `response_items`, `response_groups`, `flags`, `runs`, `questions` and
`question_events` carry triggers that abort every UPDATE and DELETE, and the plan (`hit_items`) is fixed once made. So
are the items of a stage and the lead's decisions (names, merges, exclusions, gold items and the like). The
items of a response are written first and its row in `responses` last: that row seals the set, after it no item can be
added, and it is refused unless the set covers exactly the items of the HIT. A HIT counts its submissions and cannot
have more than `R`. An answer to a question, a decision and a flag are taken back by a row of their own.

Answers carry hashes, each of itself and of the one before it (see `chain`).

Times are ISO 8601 text in UTC with microseconds: they sort as text.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = 3
APPLICATION_ID = 0x43726443  # "CrdC"

metadata = MetaData()

campaign = Table(
    "campaign",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("instructions", Text, nullable=False),
    Column("image_root_relative", Text),  # to the campaign file's folder, with "/"; none across Windows drives
    Column("image_root_absolute", Text),  # none for a campaign without images
    Column("created_at", Text, nullable=False),
    Column("created_with", Text, nullable=False),
    Column("revision", Integer, nullable=False, server_default=text("1")),
    Column("identifier", Text, nullable=False, server_default=text("''")),  # the same in all copies of a campaign
)

stages = Table(
    "stages",
    metadata,
    Column("name", Text, primary_key=True),
    Column("items_per_hit", Integer, nullable=False),
    Column("redundancy", Integer, nullable=False),
    Column("workers_per_hit", Integer, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    # What a stage subdivides: a cluster of a run of the stage above it; none of these for the whole collection
    Column("parent", Text, ForeignKey("stages.name")),
    Column("run", Integer, ForeignKey("runs.number")),
    Column("cluster", Integer),
    Column("removed_at", Text),  # a stage that was removed is out of sight; its answers stay
)

stage_items = Table(
    "stage_items",
    metadata,
    Column("stage", Text, ForeignKey("stages.name"), primary_key=True),  # the whole collection has no rows: all items
    Column("item", Integer, ForeignKey("items.number"), primary_key=True),
    sqlite_with_rowid=False,
)

items = Table(
    "items",
    metadata,
    Column("number", Integer, primary_key=True),  # counts from 0 in the order of the scan, as in the plan
    Column("path", Text, nullable=False, unique=True),
    Column("content_hash", Text),
    Column("byte_size", Integer),
    Column("width", Integer),
    Column("height", Integer),
    Column("frames", Integer, nullable=False),
)

left_out = Table(
    "left_out",
    metadata,
    Column("path", Text, primary_key=True),
    Column("status", Text, CheckConstraint("status IN ('duplicate', 'unreadable')"), nullable=False),
    Column("detail", Text, nullable=False),  # path of the original, or the reason
)

hits = Table(
    "hits",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("stage", Text, ForeignKey("stages.name"), nullable=False),
    Column("name", Text, nullable=False, unique=True),
    Column("position", Integer, nullable=False),
    # R; 0 for an imported HIT, which is handed to nobody and may have any number of responses
    Column("workers_wanted", Integer, CheckConstraint("workers_wanted >= 0"), nullable=False),
    # How many workers have submitted it, kept by the rules below: handing out looks at thousands of HITs at once.
    Column("submitted", Integer, nullable=False, server_default=text("0")),
    Column(
        "repeats", Integer, ForeignKey("hits.number")
    ),  # the same items a second time, to see how people agree with themselves
    CheckConstraint("workers_wanted = 0 OR submitted <= workers_wanted", name="a_hit_has_no_more_than_its_workers"),
    Index("hits_by_need", "submitted", "position", sqlite_where=text("submitted < workers_wanted")),
)

hit_items = Table(
    "hit_items",
    metadata,
    Column("hit", Integer, ForeignKey("hits.number"), primary_key=True),
    Column("item", Integer, ForeignKey("items.number"), primary_key=True),
    Column("position", Integer, nullable=False),
    Index("hit_items_by_item", "item"),
    sqlite_with_rowid=False,
)

workers = Table(
    "workers",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("name", Text, CheckConstraint("name <> ''"), nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
)

assignments = Table(
    "assignments",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("hit", Integer, ForeignKey("hits.number"), nullable=False),
    Column("worker", Integer, ForeignKey("workers.number"), nullable=False),
    Column("status", Text, CheckConstraint("status IN ('open', 'submitted', 'skipped')"), nullable=False),
    Column("item_order", Text),  # JSON list of item numbers as this worker sees them; none for imported answers
    Column("started_at", Text, nullable=False),
    Column("last_event_at", Text, nullable=False),  # the lease counts from here
    Column("closed_at", Text),
    Column("active_seconds", Float, nullable=False, server_default=text("0")),
    Column("skip_reason", Text),
    Column("head", Text, nullable=False, server_default=text("''")),  # the last hash of its log
    UniqueConstraint("hit", "worker"),  # never twice to one worker
    Index("one_open_assignment_a_worker", "worker", unique=True, sqlite_where=text("status = 'open'")),
    Index("assignments_by_hit", "hit", "status", "last_event_at"),
    Index("assignments_by_worker", "worker", "status"),
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("assignment", Integer, ForeignKey("assignments.number"), nullable=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("placements", Text),  # JSON list of [position, group] for "place"
    Column("active_seconds", Float, nullable=False),
    Column("hash", Text, nullable=False, server_default=text("''")),
    Index("events_by_assignment", "assignment", "number"),
    sqlite_autoincrement=True,
)

responses = Table(
    "responses",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("assignment", Integer, ForeignKey("assignments.number"), nullable=False),
    Column("submitted_at", Text, nullable=False),
    Column("wall_seconds", Float),
    Column("active_seconds", Float),
    Column("source", Text, CheckConstraint("source IN ('window', 'import', 'revision')"), nullable=False),
    Column("supersedes", Integer, ForeignKey("responses.number"), unique=True),
    Column("comment", Text),
    Column("hash", Text, nullable=False, server_default=text("''")),
    Index("one_first_response_an_assignment", "assignment", unique=True, sqlite_where=text("supersedes IS NULL")),
    Index("responses_by_assignment", "assignment"),
)

response_items = Table(
    "response_items",
    metadata,
    Column(
        "response", Integer, ForeignKey("responses.number", deferrable=True, initially="DEFERRED"), primary_key=True
    ),
    Column("item", Integer, ForeignKey("items.number"), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("grp", Integer, CheckConstraint("grp >= 1"), nullable=False),
    sqlite_with_rowid=False,
)

response_groups = Table(
    "response_groups",
    metadata,
    Column(
        "response", Integer, ForeignKey("responses.number", deferrable=True, initially="DEFERRED"), primary_key=True
    ),
    Column("grp", Integer, primary_key=True),
    Column("label", Text),  # what a table called the group, where that was not its number
    Column("name", Text),  # what the worker called it
    sqlite_with_rowid=False,
)

flags = Table(
    "flags",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("item", Integer, ForeignKey("items.number"), nullable=False),
    Column("worker", Integer, ForeignKey("workers.number"), nullable=False),
    Column("assignment", Integer, ForeignKey("assignments.number"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Text, nullable=False),
    UniqueConstraint("assignment", "item", "reason"),
    sqlite_autoincrement=True,
)

flags_taken_back = Table(
    "flags_taken_back",
    metadata,
    Column("flag", Integer, ForeignKey("flags.number"), primary_key=True),
    Column("at", Text, nullable=False),
)

truth = Table(
    "truth",
    metadata,
    Column("item", Integer, ForeignKey("items.number"), primary_key=True),
    Column("category", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("stage", Text, ForeignKey("stages.name"), nullable=False),
    Column("method", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("versions", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("summary", Text, nullable=False),
    Column("scalars", Text, nullable=False),  # JSON: what the result holds besides arrays
    Column("names", Text, nullable=False),  # JSON: the items and workers that the arrays' rows are about
    Column("arrays", LargeBinary, nullable=False),  # an .npz archive, read without pickle
    sqlite_autoincrement=True,
)

question_sets = Table(
    "question_sets",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("sentence", Text, CheckConstraint("sentence <> ''"), nullable=False),
    Column("wanted", Integer, CheckConstraint("wanted >= 1"), nullable=False),
    Column("policy", Text, CheckConstraint("policy IN ('uniform', 'uncertainty')"), nullable=False),
    Column("seed", Integer, nullable=False),
    Column("run", Integer, ForeignKey("runs.number")),
    Column("cluster", Integer),
    Column("method", Text, nullable=False),  # whose verdict counts; the lead may choose another
    Column("created_at", Text, nullable=False),
    Column("learning", Text),  # JSON: how answers are learnt from the images; none where they are not
    CheckConstraint("(run IS NULL) = (cluster IS NULL)", name="a_cluster_is_of_a_run"),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    metadata,
    Column("question_set", Integer, ForeignKey("question_sets.number"), primary_key=True),
    Column("item", Integer, ForeignKey("items.number"), primary_key=True),
    Column("position", Integer, nullable=False),
    sqlite_with_rowid=False,
)

question_events = Table(
    "question_events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("question_set", Integer, nullable=False),
    Column("item", Integer, nullable=False),
    Column("worker", Integer, ForeignKey("workers.number"), nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('yes', 'no', 'skip', 'undo')"), nullable=False),
    Column("undoes", Integer, ForeignKey("question_events.number"), unique=True),
    Column("seconds", Float, nullable=False),
    Column("at", Text, nullable=False),
    Column("hash", Text, nullable=False, server_default=text("''")),
    ForeignKeyConstraint(["question_set", "item"], ["questions.question_set", "questions.item"]),
    CheckConstraint("(kind = 'undo') = (undoes IS NOT NULL)", name="an_undo_undoes_something"),
    Index("question_events_by_worker", "question_set", "worker", "item"),
    Index("question_events_by_set", "question_set", "number"),
    sqlite_autoincrement=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("kind", Text, CheckConstraint("kind <> ''"), nullable=False),
    Column("run", Integer, ForeignKey("runs.number")),  # for what is decided about the clusters of a run
    Column("detail", Text, nullable=False),  # JSON
    Column("undoes", Integer, ForeignKey("decisions.number"), unique=True),
    CheckConstraint("(kind = 'undo') = (undoes IS NOT NULL)", name="an_undo_undoes_a_decision"),
    Index("decisions_by_kind", "kind", "run", "number"),
    sqlite_autoincrement=True,
)

preferences = Table(
    "preferences",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)

_FIXED = {
    "events": "what was done is history and is never changed",
    "responses": "a submitted response is never changed; a revision supersedes it",
    "response_items": "a submitted response is never changed; a revision supersedes it",
    "response_groups": "a submitted response is never changed; a revision supersedes it",
    "flags": "a flag is history and is never changed",
    "runs": "a run is never changed; fit again",
    "flags_taken_back": "a flag is history and is never changed",
    "decisions": "a decision is history and is never changed; it is taken back by another",
    "hit_items": "the items of a HIT never change",
    "stage_items": "the items of a stage never change",
    "questions": "the items of a question set never change",
    "question_events": "what was answered is history and is never changed",
}

_RULES = (
    """
    CREATE TRIGGER response_items_sealed BEFORE INSERT ON response_items
    WHEN EXISTS (SELECT 1 FROM responses WHERE number = NEW.response)
    BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END
    """,
    """
    CREATE TRIGGER responses_cover_their_hit BEFORE INSERT ON responses
    WHEN EXISTS (
        SELECT 1 FROM assignments a
        WHERE a.number = NEW.assignment
          AND (a.status <> 'submitted'
               OR (SELECT count(*) FROM hit_items WHERE hit = a.hit)
                  <> (SELECT count(*) FROM response_items WHERE response = NEW.number)
               OR EXISTS (SELECT item FROM response_items WHERE response = NEW.number
                          EXCEPT SELECT item FROM hit_items WHERE hit = a.hit)))
    BEGIN SELECT RAISE(ABORT, 'a response covers exactly the items of its HIT'); END
    """,
    """
    CREATE TRIGGER assignments_stay_closed BEFORE UPDATE OF status, hit, worker, item_order ON assignments
    WHEN OLD.status <> 'open'
    BEGIN SELECT RAISE(ABORT, 'a closed assignment is never opened again'); END
    """,
    """
    CREATE TRIGGER hits_count_submissions_update AFTER UPDATE OF status ON assignments
    WHEN NEW.status = 'submitted'
    BEGIN UPDATE hits SET submitted = submitted + 1 WHERE number = NEW.hit; END
    """,
    """
    CREATE TRIGGER hits_count_submissions_insert AFTER INSERT ON assignments
    WHEN NEW.status = 'submitted'
    BEGIN UPDATE hits SET submitted = submitted + 1 WHERE number = NEW.hit; END
    """,
    """
    CREATE TRIGGER question_sets_stay
    BEFORE UPDATE OF number, sentence, wanted, policy, seed, run, cluster, created_at ON question_sets
    BEGIN SELECT RAISE(ABORT, 'a question set is never changed; make another'); END
    """,
    """
    CREATE TRIGGER question_sets_no_delete BEFORE DELETE ON question_sets
    BEGIN SELECT RAISE(ABORT, 'a question set is never changed; make another'); END
    """,
    """
    CREATE TRIGGER questions_answered_once BEFORE INSERT ON question_events
    WHEN NEW.kind <> 'undo' AND EXISTS (
        SELECT 1 FROM question_events e
        WHERE e.question_set = NEW.question_set AND e.worker = NEW.worker AND e.item = NEW.item AND e.kind <> 'undo'
          AND NOT EXISTS (SELECT 1 FROM question_events u WHERE u.undoes = e.number))
    BEGIN SELECT RAISE(ABORT, 'a worker answers a question once'); END
    """,
    """
    CREATE TRIGGER answers_undone_by_their_worker BEFORE INSERT ON question_events
    WHEN NEW.kind = 'undo' AND NOT EXISTS (
        SELECT 1 FROM question_events e
        WHERE e.number = NEW.undoes AND e.question_set = NEW.question_set AND e.worker = NEW.worker
          AND e.item = NEW.item AND e.kind <> 'undo')
    BEGIN SELECT RAISE(ABORT, 'a worker takes back only their own answers'); END
    """,
)

_VIEWS = (
    """
    CREATE VIEW current_responses AS
    SELECT r.number AS response, a.hit AS hit, a.worker AS worker, h.stage AS stage, r.submitted_at AS submitted_at,
           r.wall_seconds AS wall_seconds, r.active_seconds AS active_seconds, a.number AS assignment
    FROM responses r JOIN assignments a ON a.number = r.assignment JOIN hits h ON h.number = a.hit
    WHERE NOT EXISTS (SELECT 1 FROM responses later WHERE later.supersedes = r.number)
    """,
    """
    CREATE VIEW pair_labels AS
    SELECT ia.path AS item_a, ib.path AS item_b, w.name AS worker, h.name AS hit,
           CASE WHEN a.grp = b.grp THEN 1 ELSE -1 END AS label
    FROM current_responses r
    JOIN hits h ON h.number = r.hit
    JOIN workers w ON w.number = r.worker
    JOIN response_items a ON a.response = r.response
    JOIN response_items b ON b.response = r.response AND b.item > a.item
    JOIN items ia ON ia.number = a.item
    JOIN items ib ON ib.number = b.item
    """,
    """
    CREATE VIEW standing_decisions AS
    SELECT d.number, d.at, d.kind, d.run, d.detail
    FROM decisions d
    WHERE d.kind <> 'undo' AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.undoes = d.number)
    """,
    """
    CREATE VIEW standing_answers AS
    SELECT e.number, e.question_set, e.item, e.worker, e.kind, e.at, e.seconds
    FROM question_events e
    WHERE e.kind <> 'undo' AND NOT EXISTS (SELECT 1 FROM question_events u WHERE u.undoes = e.number)
    """,
)


def rules() -> tuple[str, ...]:
    """Statements that make the triggers and views, in the order in which they can be run."""
    fixed = tuple(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{why}'); END"
        for table, why in _FIXED.items()
        for verb in ("UPDATE", "DELETE")
    )
    return fixed + _RULES + _VIEWS
