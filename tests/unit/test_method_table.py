"""The table of methods: it agrees with the classes, and a new aggregator is a class and a row."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from crowdclust_app.cli.parser import build_parser
from crowdclust_app.domain import methods
from crowdclust_app.domain.methods import METHODS, Method, names_of, title_of, verify_names
from crowdclust_app.domain.questions import Answer, AnswerKind, Policy, QuestionSet
from crowdclust_app.gui.verify.methods import MethodsModel
from crowdclust_app.inference.aggregators import Aggregator, LabelTable
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior
from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file
from crowdclust_app.services.verify.verdicts import verify

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class FirstVote(Aggregator):
    """A toy: each task's first label is right nine times of ten."""

    name = "first-vote"

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        run.step(0.0)
        tasks, first = np.unique(table.task, return_index=True)
        shares = np.full((table.n_tasks, table.n_classes), 0.5)
        shares[tasks] = 0.1
        shares[tasks, table.label[first]] = 0.9
        return LabelPosterior(np.log(shares), np.array([0.5, 0.5]))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Method:
    path = f"{FirstVote.__module__}:{FirstVote.__name__}"
    row = Method("first-vote", "First vote", "aggregator", path, "", "what was said first", verify_row=9)
    monkeypatch.setitem(methods.METHODS, row.name, row)
    return row


def test_the_table_agrees_with_the_classes() -> None:
    assert len(METHODS) == len(methods._ALL)
    for name, method in METHODS.items():
        module, _, class_name = method.path.partition(":")
        kind = getattr(import_module(module), class_name)
        if method.kind in ("aggregator", "learner"):
            assert kind.name == name
            assert method.reference in kind.__doc__
            assert "\n    >>> " in kind.__doc__
        if method.kind == "aggregator":
            assert (kind.fewest_classes == 1) == (name in ("majority", "soft-vote", "continuous"))


def test_the_order_of_files_and_screens() -> None:
    assert names_of("clustering", "baseline") == (
        "crowdclustering", "consensus", "nmf", "nmf-masked", "cspa", "mcla", "hbgf", "spectral"
    )  # fmt: skip
    assert names_of("aggregator", "learner") == (
        "majority", "soft-vote", "em", "amf", "mf", "bp", "bp-max", "kos", "kos-normalised", "em2", "amf2", "mf2",
        "bp2", "sbic-fast", "sbic-sorted", "sbic-sorted-shared", "gibbs", "te", "te-overlap", "glad", "dawid-skene",
        "dawid-skene-map", "ebcc", "community-bcc", "ordinal", "continuous", "experts", "gp",
    )  # fmt: skip
    assert verify_names() == ("majority", "em", "em2", "mf", "bp", "bp2", "dawid-skene", "sbic-fast")
    assert (title_of("nmf-masked"), title_of("of a later version")) == ("NMF, seen pairs", "of a later version")


def test_a_new_aggregator_is_a_class_and_a_row(toy: Method, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n" + "".join(f"t{n},w{w},{n % 2}\n" for n in range(6) for w in range(3)))
    assert build_parser().parse_args(["aggregate", str(path), "--method", toy.name]).method == toy.name
    for wanted in (toy.name, "all"):
        report = aggregate_file(path, AggregateSettings(method=wanted), out=tmp_path / wanted)
        (found,) = (one for one in report.summary["methods"] if one["method"] == toy.name)
        assert (found["iterations"], found["undecided"], found["notes"]) == (1, 0, [])
    assert f"t1,1,0.9,3,{toy.name}" in (tmp_path / "all" / "labels_inferred.csv").read_text().splitlines()


def test_a_new_aggregator_is_on_the_verify_screen(toy: Method) -> None:
    asked = QuestionSet(1, "Is it a cat?", (1, 2), 2, Policy.UNIFORM, 0, None, None, toy.name, NOW)
    given = [Answer(2 * item + worker, item, worker, AnswerKind.YES, NOW, 1.0) for item in (1, 2) for worker in (1, 2)]
    verification = verify(asked, given, {1: "Ann", 2: "Bob"})
    assert [method.method for method in verification.methods] == [*verify_names()[:-1], toy.name]
    table = MethodsModel()
    table.show_verdicts(verification)
    last = table.rowCount() - 1
    assert [table.index(last, column).data() for column in range(5)] == [toy.name, "2", "0", "0", "10.0 %"]
    assert table.told((toy.name,), table._columns[0]) == toy.sentence


def test_the_table_imports_nothing_of_ours() -> None:
    source = Path(sys.modules["crowdclust_app.domain.methods"].__file__ or "").read_text(encoding="utf-8")
    imports = {line.split()[1] for line in source.splitlines() if line.startswith(("from ", "import "))}
    assert imports == {"__future__", "dataclasses", "typing"}
