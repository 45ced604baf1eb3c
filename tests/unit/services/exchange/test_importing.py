from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next, sort_all

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.partition import pair_labels
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.domain.response_table import Response
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.counts import campaign_figures, submitted_times
from crowdclust_app.services.campaign.creating import create_campaign, create_without_images
from crowdclust_app.services.campaign.responses import read_responses, read_table
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.sources import read_table_source
from crowdclust_app.storage import questions


@pytest.fixture
def empty(tmp_path: Path):
    """A campaign without images."""
    create_without_images(tmp_path / "t.crowdclust", PlanSettings())
    with Campaign.open(tmp_path / "t.crowdclust") as campaign:
        yield campaign


def table(tmp_path: Path, *rows: str, header: str = "hit,worker,item,group") -> Path:
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def quoted(text: str) -> str:
    return f'"{text}"'


def test_responses_become_items_hits_workers_and_answers(empty: Campaign, tmp_path: Path) -> None:
    rows = ("b1,Ann,x,red", "b1,Ann,y,red", "b1,Ann,z,blue", "b1,Ben,z,1", "b1,Ben,x,2", "b1,Ben,y,1", "b2,Ann,w,7")
    report = import_table(empty, table(tmp_path, *rows))
    assert (report.added, report.skipped, report.warnings) == (3, 0, ())
    assert read_responses(empty) == [
        Response("b1", "Ann", ("x", "y", "z"), ("red", "red", "blue")),
        Response("b1", "Ben", ("z", "x", "y"), ("1", "2", "1")),
        Response("b2", "Ann", ("w",), ("7",)),
    ]
    assert [item.path for item in empty.items()] == ["x", "y", "z", "w"]
    assert [(hit.name, hit.workers_wanted) for hit in empty.hits()] == [("b1", 0), ("b2", 0)]
    assert read_table(empty).n_pair_labels == 6
    assert annotation.next_assignment(empty, empty.workers()[0]) is None, "imported HITs are handed to nobody"
    assert check_campaign(empty.path).ok


def test_importing_twice_adds_nothing(empty: Campaign, tmp_path: Path) -> None:
    path = table(tmp_path, "b1,Ann,x,1", "b1,Ann,y,2", "b2,Ann,x,1", "b2,Ann,y,1")
    assert import_table(empty, path).added == 2
    before = read_table(empty).fingerprint(), empty.revision
    report = import_table(empty, path)
    assert (report.added, report.skipped) == (0, 2)
    # the same grouping in another order and under other labels, and one that is new
    other = table(tmp_path, "b1,Ann,y,left", "b1,Ann,x,right", "b3,Ann,x,1")
    assert (read_table(empty).fingerprint(), empty.revision) == before
    report = import_table(empty, other)
    assert (report.added, report.skipped) == (1, 1)
    assert len(read_responses(empty)) == 3


def test_times_names_and_remarks_are_kept(empty: Campaign, tmp_path: Path) -> None:
    header = "hit,worker,item,group,started_at,submitted_at,active_seconds,group_name,comment,colour"
    end = "2024-05-01T10:00:00,2024-05-01T12:02:00+02:00,90.5"
    path = table(tmp_path, f"b,Ann,x,1,{end},tall ones,hard,red", f"b,Ann,y,2,{end},,hard,red", header=header)
    report = import_table(empty, path)
    assert report.warnings == ("The column colour was not used.",)
    (time,) = submitted_times(empty)
    assert (time.active_seconds, time.wall_seconds) == (90.5, 120.0)
    with empty.database.read() as connection:
        assert connection.exec_driver_sql("SELECT comment, source FROM responses").all() == [("hard", "import")]
        assert connection.exec_driver_sql("SELECT grp, label, name FROM response_groups").all() == [
            (1, None, "tall ones")
        ]


def test_a_submission_before_its_beginning_is_refused(empty: Campaign, tmp_path: Path) -> None:
    header = "hit,worker,item,group,started_at,submitted_at"
    path = table(tmp_path, "b,Ann,x,1,2024-05-01T10:00:00,2024-05-01T09:00:00", header=header)
    with pytest.raises(UserError, match=r"line 2: it was submitted before it was started"):
        import_table(empty, path)


def test_responses_to_planned_hits_count_towards_r(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign(n_items=4)
    (hit,) = campaign.hits()
    names = [campaign.items()[number].path for number in hit.items]

    def rows(*workers: str) -> list[str]:
        return [f"{hit.name},{worker},{name},1" for worker in workers for name in names]

    assert import_table(campaign, table(tmp_path, *rows("Ann"))).added == 1
    ann, ben = campaign.workers()[0], campaign.add_worker("Ben")
    assert annotation.next_assignment(campaign, ann) is None, "never twice to one worker"
    with pytest.raises(UserError, match=r"line 6: the HIT h0001 has its 2 workers already"):
        import_table(campaign, table(tmp_path, *rows("Cem", "Dan")))
    assert len(read_responses(campaign)) == 1
    assert do_next(campaign, ben) is not None
    assert campaign_figures(campaign).hits_complete == 1
    assert check_campaign(campaign.path).ok


def test_who_is_at_work_keeps_the_place(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign(n_items=4, workers_per_hit=1)
    (hit,) = campaign.hits()
    rows = [f"{hit.name},Ben,{campaign.items()[number].path},1" for number in hit.items]
    left = annotation.next_assignment(campaign, campaign.add_worker("Ann"))
    assert left is not None
    with pytest.raises(UserError, match=r"line 2: the HIT h0001 has its 1 workers already, done or at work"):
        import_table(campaign, table(tmp_path, *rows))
    with campaign.database.write() as connection:
        connection.exec_driver_sql("UPDATE assignments SET last_event_at = '2000-01-01T00:00:00.000000+00:00'")
    assert import_table(campaign, table(tmp_path, *rows)).added == 1
    with pytest.raises(UserError, match="others have taken it"):
        sort_all(campaign, left)
    assert check_campaign(campaign.path).ok


def test_what_does_not_fit_is_refused_with_its_line(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign()
    hit = campaign.hits()[0]
    names = [item.path for item in campaign.items()]
    inside = [names[number] for number in hit.items]
    ann = campaign.add_worker("Ann")
    done = do_next(campaign, ann)
    skipped = annotation.next_assignment(campaign, ann)
    assert done is not None
    assert skipped is not None
    annotation.skip(campaign, skipped)
    opened = annotation.next_assignment(campaign, ann)
    assert opened is not None
    other = [names[number] for number in skipped.items]
    third = [names[number] for number in opened.items]
    good = f"new,Zoe,{names[0]},1"
    before = campaign.revision
    for rows, why in (
        ([f"new,Ann,{names[0]},1", "new,Ann,nowhere.png,1"], r"line 4: the item nowhere.png is not in the campaign"),
        ([f"{hit.name},Ben,{names[0]},1"], r"line 3: the HIT h0001 has other items"),
        ([f"{hit.name},Ann,{name},1" for name in inside], r"line 3: Ann has grouped the HIT h0001 otherwise"),
        ([f"{skipped.hit_name},Ann,{name},1" for name in other], r"line 3: Ann cannot answer .* skipped it"),
        ([f"{opened.hit_name},Ann,{name},1" for name in third], r"line 3: Ann cannot answer .* has it open"),
    ):
        with pytest.raises(UserError, match=why):
            import_table(campaign, table(tmp_path, good, *rows))
    stage = table(tmp_path, f"new,Ann,{names[0]},1,all/nine", header="hit,worker,item,group,stage")
    with pytest.raises(UserError, match="line 2: all/nine is no name of a stage"):
        import_table(campaign, stage)
    assert campaign.revision == before
    assert len(campaign.workers()) == 1


def test_a_copy_of_a_photo_is_the_photo(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(2):
        Image.new("L", (4, 4), number * 100).save(folder / f"{number}.png")
    Image.new("L", (4, 4), 0).save(folder / "same.png")
    create_campaign(tmp_path / "p.crowdclust", folder, PlanSettings())
    with Campaign.open(tmp_path / "p.crowdclust") as campaign:
        report = import_table(campaign, table(tmp_path, "b,Ann,same.png,1", "b,Ann,1.png,2"))
        assert read_responses(campaign) == [Response("b", "Ann", ("0.png", "1.png"), ("1", "2"))]
        assert report.warnings == (
            "1 item of the table is a copy and counts as the original, such as same.png of 0.png.",
        )
        truth = table(tmp_path, "same.png,dark", "0.png,dark", header="item,category")
        report = import_table(campaign, truth, "truth")
        assert (report.added, report.skipped) == (1, 1)
        assert "such as same.png" in report.warnings[0]


def test_pairs_become_the_groupings_they_stand_for(empty: Campaign, tmp_path: Path) -> None:
    names, rows = "abcd", []
    for worker, groups in (("Ann", (0, 0, 1, 2)), ("Ben", (0, 1, 1, 0))):
        rows += [f"{worker},{names[a]},{names[b]},{label},h" for a, b, label in pair_labels(groups).tolist()]
    path = table(tmp_path, *reversed(rows), header="worker,item_a,item_b,label,hit")
    assert import_table(empty, path, "pairs").added == 2
    assert import_table(empty, path, "pairs").skipped == 2
    with empty.database.read() as connection:
        stored = connection.exec_driver_sql("SELECT worker, item_a, item_b, label, hit FROM pair_labels").all()

    def unordered(worker: str, a: str, b: str, label: str, hit: str) -> tuple:
        return (worker, *sorted([a, b]), int(label), hit)

    assert {unordered(*map(str, row)) for row in stored} == {unordered(*row.split(",")) for row in rows}


def test_pairs_without_a_hit_are_one_hit_a_worker(empty: Campaign, tmp_path: Path) -> None:
    path = table(tmp_path, "Ann,a,b,1", "Ben,a,b,-1", "Ben,b,c,-1", "Ben,a,c,-1", header="worker,item_a,item_b,label")
    import_table(empty, path, "pairs")
    assert [(response.hit, len(set(response.groups))) for response in read_responses(empty)] == [
        ("pairs of Ann", 1),
        ("pairs of Ben", 3),
    ]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["Ann,a,b,1", "Ann,b,a,-1"], r"line 3: Ann calls b and a both same and different"),
        (["Ann,a,b,1", "Ann,b,c,1"], r"line 2: the pair a and c of Ann in the HIT pairs of Ann has no label"),
        (["Ann,a,b,1", "Ann,b,c,1", "Ann,a,c,-1"], r"line 2: the labels of Ann .* contradict each other"),
    ],
)
def test_pairs_that_are_nobodys_grouping_are_refused(
    empty: Campaign, tmp_path: Path, rows: list[str], why: str
) -> None:
    with pytest.raises(UserError, match=why):
        import_table(empty, table(tmp_path, *rows, header="worker,item_a,item_b,label"), "pairs")
    assert empty.items() == ()


def test_truth_is_kept_and_replaced(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign()
    a, b = (item.path for item in campaign.items()[:2])
    header = "item,category"
    assert import_table(campaign, table(tmp_path, f"{a},red", f"{b},blue", header=header), "truth").added == 2
    report = import_table(campaign, table(tmp_path, f"{a},red", f"{b},green", header=header), "truth")
    assert (report.added, report.skipped) == (1, 1)
    assert report.warnings == ("1 items have another category than before.",)
    assert campaign.truth() == {a: "red", b: "green"}
    with pytest.raises(UserError, match="none of its 1 items is in the campaign"):
        import_table(campaign, table(tmp_path, "other.png,red", header=header), "truth")


def test_an_unknown_kind_is_refused(empty: Campaign, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="choose responses, pairs, labels, truth"):
        import_table(empty, tmp_path / "none.csv", "votes")  # type: ignore[arg-type]


def test_a_cancelled_import_changes_nothing(empty: Campaign, tmp_path: Path) -> None:
    token = CancelToken()
    path = table(tmp_path, "b,Ann,x,1")
    with pytest.raises(Cancelled):
        import_table(empty, path, progress=lambda report: token.cancel(), cancel=token)
    assert empty.items() == ()


@pytest.fixture
def copied(tmp_path: Path):
    """A campaign of two folders that share one photo: malignant/0.png has the bytes of benign/2.png."""
    from PIL import Image

    for number, name in enumerate(["benign/0", "benign/1", "benign/2", "malignant/0", "malignant/1", "malignant/2"]):
        path = tmp_path / "photos" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), (number - (number > 2)) * 50).save(path)
    create_campaign(tmp_path / "c.crowdclust", tmp_path / "photos", PlanSettings(3, 1, 1))
    with Campaign.open(tmp_path / "c.crowdclust") as campaign:
        assert campaign.copies() == {"malignant/0.png": "benign/2.png"}
        yield campaign


@pytest.mark.parametrize("order", [1, -1])
def test_copies_in_two_categories_contradict_each_other(copied: Campaign, tmp_path: Path, order: int) -> None:
    rows = [f"{kind}/{number}.png,{kind}" for kind in ("benign", "malignant") for number in range(3)][::order]
    why = (
        r"line [45]: malignant\/0.png is a copy of benign/2.png, which the table calls benign: contradictory; keep one"
    )
    with pytest.raises(UserError, match=why):
        import_table(copied, table(tmp_path, *rows, header="item,category"), "truth")
    assert copied.truth() == {}
    same = [row.replace("malignant/0.png,malignant", "malignant\\0.png,benign") for row in rows]
    report = import_table(copied, table(tmp_path, *same, header="item,category"), "truth")
    assert report.added == 5
    assert copied.truth()["benign/2.png"] == "benign"


def test_a_copy_beside_its_original_in_one_response(copied: Campaign, tmp_path: Path) -> None:
    rows = ["h,w,benign/0.png,1", "h,w,benign/2.png,2", "h,w,malignant/0.png,{}"]
    why = r"line 4: malignant/0.png is a copy of benign/2.png, and w put one of them into 2 and the other into 1"
    with pytest.raises(UserError, match=why):
        import_table(copied, table(tmp_path, *rows[:2], rows[2].format(1)))
    import_table(copied, table(tmp_path, *rows[:2], rows[2].format(2)))
    assert read_responses(copied) == [Response("h", "w", ("benign/0.png", "benign/2.png"), ("1", "2"))]


def test_labels_by_the_name_of_a_copy_are_about_the_original(copied: Campaign, tmp_path: Path) -> None:
    path = table(tmp_path, "malignant/0.png,u,Ja", "benign/2.png,v,0.0", header="task,worker,label")
    assert import_table(copied, path, "labels").added == 2
    with copied.database.read() as connection:
        (asked,) = questions.sets(connection)
        answers = [(answer.item, answer.said) for answer in questions.standing_answers(connection, asked.number)]
    benign = [item.path for item in copied.items()].index("benign/2.png")
    assert answers == [(benign, AnswerKind.YES), (benign, AnswerKind.NO)]


def test_names_are_found_however_they_are_written_and_near_ones_are_named(tmp_path: Path) -> None:
    from PIL import Image

    decomposed = unicodedata.normalize("NFD", "Müller.png")
    (tmp_path / "im" / "cats").mkdir(parents=True)
    for number, name in enumerate([decomposed, "cats/1.png", "cats/2.png", "plain.JPG"]):
        Image.new("RGB", (20, 20), (number * 40, 9, 9)).save(tmp_path / "im" / name)
    create_campaign(tmp_path / "c.crowdclust", tmp_path / "im", PlanSettings(3, 1, 1))
    rows = ["plain.JPG,a", "Müller.png,b", "cats\\1.png,c", "PLAIN.jpg,d", "./cats/2.png\u00a0,e"]
    with Campaign.open(tmp_path / "c.crowdclust") as campaign:
        report = import_table(campaign, table(tmp_path, *rows, header="item,category"), "truth")
        assert report.added == 4
        assert campaign.truth() == {"plain.JPG": "a", decomposed: "b", "cats/1.png": "c", "cats/2.png": "e"}
        near = "PLAIN.jpg, but PLAIN.jpg differs only in letter case from plain.JPG."
        assert f"1 items of the table are not in the campaign, such as {near}" in report.warnings
        with pytest.raises(
            UserError, match=r"line 4: the item PLAIN.jpg is not in the campaign, but PLAIN.jpg differs"
        ):
            import_table(campaign, table(tmp_path, "h,w,plain.JPG,1", "h,w,Müller.png,2", "h,w,PLAIN.jpg,2"))
        assert import_table(campaign, table(tmp_path, "h,w,plain.JPG,1", "h,w,Müller.png,2")).added == 1
        # the same worker and HIT in other spellings
        again = import_table(campaign, table(tmp_path, "h ,w\u00a0,plain.JPG,1.0", "h,w,Müller.png,2"))
        assert (again.added, again.skipped) == (0, 1)
        assert [worker.name for worker in campaign.workers()] == ["w"]
        other = import_table(campaign, table(tmp_path, "g,W,plain.JPG,1", "g,W,Müller.png,2"))
        assert other.warnings == ("The workers w and W differ only in letter case and count as different.",)


def test_a_worker_of_a_table_is_no_second_time_added(empty: Campaign, tmp_path: Path) -> None:
    import_table(empty, table(tmp_path, f"h,{unicodedata.normalize('NFD', 'Zoë')},a,1"))
    with pytest.raises(UserError, match=r"there is a worker called .* already"):
        empty.add_worker("Zoë")
    import_table(empty, table(tmp_path, "g,Zoë,a,1", "g,zoë,a,1"))
    assert len(empty.workers()) == 2


def test_who_left_a_photo_unsorted_has_a_hit_of_their_own(empty: Campaign, tmp_path: Path) -> None:
    whole = [f"all,{who},{item},{at}" for who in "13" for at, item in enumerate(["oak", "cup", "fox"])]
    partial = ["all,2,oak,1", "all,2,cup,2", "all,4,cup,1", "all,4,oak,1", "all,5,fox,1", "all,5,oak,NA"]
    path = table(tmp_path, *whole, *partial)
    report = import_table(empty, path)
    assert report.added == 5
    assert [(said.hit, said.worker) for said in read_responses(empty)] == [
        ("all", "1"), ("all", "3"), ("all (2)", "2"), ("all (2)", "4"), ("all (3)", "5"),
    ]  # fmt: skip
    assert "those who differ are in a HIT of their own, such as all (2)." in report.warnings[-1]
    assert read_table(empty).n_pair_labels == read_table_source(path).table.n_pair_labels == 8
    assert import_table(empty, path).added == 0


@pytest.mark.parametrize(
    ("kind", "header", "rows", "line"),
    [
        ("responses", "hit,worker,item,group", ["h,w,there1,1", "h,w,there2,1", '"h","w","absent",2'], 4),
        ("pairs", "worker,item_a,item_b,label", ["w,there1,there2,1", "w,there1,absent,1", "w,there2,absent,1"], 3),
        ("labels", "task,worker,label", ["there1,w,1", "absent,w,1"], 3),
    ],
)
def test_an_item_that_is_not_there_is_named_with_its_own_line(
    make_campaign: MakeCampaign, tmp_path: Path, kind, header: str, rows: list[str], line: int
) -> None:
    campaign = make_campaign()
    there = [item.path for item in campaign.items()]
    rows = [row.replace("there1", there[0]).replace("there2", there[1]) for row in rows]
    with pytest.raises(UserError, match=rf"line {line}: the item absent is not in the campaign"):
        import_table(campaign, table(tmp_path, *rows, header=header), kind)


def test_real_groupings_come_in_as_they_are(empty: Campaign, shared_data: Path) -> None:
    from crowdclust_app.domain.response_table import ResponseTable
    from crowdclust_app.io.tables import read_responses

    folder = shared_data / "groupings" / "cocoa_wheel_incomplete"
    records = read_responses(folder / "responses.csv")
    report = import_table(empty, folder / "responses.csv")
    assert report.added == len(records)
    direct = ResponseTable.from_responses(record.response for record in records)
    assert read_table(empty).fingerprint() == direct.fingerprint()
