"""Tables of answers in the layouts of other programs, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, path_key
from crowdclust_app.domain.response_table import Response
from crowdclust_app.io.label_tables import read_labels
from crowdclust_app.io.tables import KnownNames, read_responses, read_truth

# who put what together, whatever the layout
SORTS = {"1": ["Cat Dog", "Pear"], "2": ["Cat", "Dog Pear"]}
NO_HIT = "It has no column hit, which names the items that were sorted together; everybody is taken to have been shown"


def put(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def sorts(path: Path, **options) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for record in read_responses(path, **options):
        groups: dict[str, list[str]] = {}
        for item, group in zip(record.response.items, record.response.groups, strict=True):
            groups.setdefault(group, []).append(item)
        found[record.response.worker] = sorted(" ".join(sorted(group)) for group in groups.values())
    return found


LONG = {
    "kardSort": "card_id,card_label,category_id,category_label,user_id\n1,Dog,1,pets,1\n2,Cat,1,pets,1\n"
    "3,Pear,2,food,1\n"
    "2,Cat,3,animals,2\n1,Dog,4,other,2\n3,Pear,4,other,2\n",
    "OptimalSort": "Participant ID,Card Label,Category Label\n1,Dog,pets\n1,Cat,pets\n1,Pear,food\n"
    "2,Cat,animals\n2,Dog,x\n"
    "2,Pear,x\n",
    "subject, stimulus, pile": "subject;stimulus;pile\n1;Dog;1\n1;Cat;1\n1;Pear;2\n2;Cat;1\n2;Dog;2\n2;Pear;2\n",
}  # fmt: skip
WIDE = {
    "one row a person": "participant,Dog,Cat,Pear\n1,a,a,b\n2,x,y,x\n",
    "one row a person, with other questions": "Timestamp,Participant,Dog,Cat,Pear,Age\n"
    "1.5.,1,1,1,2,31\n2.5.,2,1,2,1,40\n",
    "one row an item": "item,1,2\nDog,1,1\nCat,1,2\nPear,2,1\n",
    "FreeSortR": '"","1","2"\n"Dog",1,1\n"Cat",1,2\n"Pear",2,1\n',
    "R write.table": '"1" "2"\n"Dog" 1 1\n"Cat" 1 2\n"Pear" 2 1\n',
    "Q-sort, one row a person": "Participant,s1,s2,s3\n1,0,0,1\n2,-1,2,-1\n",
    "Q-sort": "statement\t1\t2\nDog\t-1\t0\nCat\t-1\t1\nPear\t0\t0\n",
}


@pytest.mark.parametrize("name", LONG | WIDE)
def test_layouts_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, (LONG | WIDE)[name])
    as_read = json.dumps(sorts(path)).replace("s1", "Dog").replace("s2", "Cat").replace("s3", "Pear")
    assert {
        who: sorted(" ".join(sorted(one.split())) for one in groups) for who, groups in json.loads(as_read).items()
    } == SORTS
    understood, *_, no_hit = read_responses(path).notes
    assert no_hit.startswith(NO_HIT)
    if name in LONG:
        assert understood.startswith("It calls its columns otherwise; read: ")
    else:
        rows = "a person and one column an item" if "person" in name else "an item and one column a person"
        assert understood.startswith(f"Read as one row {rows} (")
    assert {record.response.hit for record in read_responses(path)} == {"all"}


def test_kardsort_keeps_what_groups_were_called(tmp_path: Path) -> None:
    first, second = read_responses(put(tmp_path, LONG["kardSort"]))
    assert first.group_names == ("pets", "pets", "food")
    assert second.response.groups == ("3", "4", "4")
    note = "It calls its columns otherwise; read: user_id as worker, card_label as item, category_id as group"
    assert read_responses(put(tmp_path, LONG["kardSort"])).notes[0].startswith(note)


def test_items_are_told_from_persons_by_what_is_known_or_looks_like_a_photo(tmp_path: Path) -> None:
    text = "who,a.png,b.png\nAnn,1,1\nBen,1,2\nCem,2,2\n"
    assert sorts(put(tmp_path, text))["Ben"] == ["a.png", "b.png"]
    turned = "x,Ann,Ben,Cem\na.png,1,1,2\nb.png,1,2,2\nc.png,2,2,2\n"
    assert sorts(put(tmp_path, turned))["Ann"] == ["a.png b.png", "c.png"]
    plain = "x,oak,fir,cup\nAnn,1,1,2\nBen,1,2,2\n"
    with pytest.raises(UserError, match=r"has no column hit and .*, or say what it calls them, such as --columns item"):
        read_responses(put(tmp_path, plain))
    known = KnownNames(items=Names(["oak", "fir", "cup"], key=path_key))
    assert sorts(put(tmp_path, plain), known=known) == {"Ann": ["cup", "fir oak"], "Ben": ["cup fir", "oak"]}
    assert sorts(put(tmp_path, plain), columns={"worker": "x", "item": "*"})["Ann"] == ["cup", "fir oak"]
    assert sorts(put(tmp_path, plain), columns={"item": "X"})["oak"] == ["Ann Ben"]


@pytest.mark.parametrize("columns", [{"item": "*", "worker": "*"}, {"item": "y", "worker": "*"}, {"group": "*"}])
def test_columns_that_cannot_be_meant_are_refused(tmp_path: Path, columns: dict[str, str]) -> None:
    with pytest.raises(
        UserError, match=r"line 1: cannot be read with .*; name a column of its first line, such as item="
    ):
        read_responses(put(tmp_path, "x,oak,fir\nAnn,1,1\nBen,1,2\n"), columns=columns)


def test_a_cell_without_a_group_is_an_item_that_was_not_sorted(tmp_path: Path) -> None:
    path = put(tmp_path, "participant,Dog,Cat,Pear\n1,a,a,b\n2,x,NA,x\n3,,,\n4,b,b,b\n")
    assert sorts(path) == {"1": ["Cat Dog", "Pear"], "2": ["Dog Pear"], "4": ["Cat Dog Pear"]}
    assert "4 of 12 rows have no group (empty, NA): these items count as not sorted." in read_responses(path).notes


@pytest.mark.parametrize(
    "text",
    [
        "item,x1,x2\na,0.5,1.5\nb,0.25,1.5\n",
        "a,b\n1,2\n",
        "item,category\na,x\nb,y\n",
        "item,width,height\na,1,10\nb,2,20\nc,3,30\n",
        "hit,worker,item\nh,w,a\nh,w,b\n",
        "item,cluster,probability\na,1,0.5\nb,1,0.75\n",
    ],
)
def test_a_table_that_is_no_sorting_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="line 1: has no column"):
        read_responses(put(tmp_path, text))


TURK = ("HITId,HITTypeId,Title,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.image1,Input.image2,"
        "Input.image3,Answer.group1,Answer.group2,Answer.group3,Approve,Reject\n")  # fmt: skip


def test_mechanical_turk_sorts(tmp_path: Path) -> None:
    rows = [
        "3XY,T,Sort,A1,W1,Approved,31,a.png,b.png,c.png,1,1,2,,",
        "3XY,T,Sort,A2,W2,Submitted,31,a.png,b.png,c.png,2,1,2,,",
        "3XY,T,Sort,A3,W3,Rejected,2,a.png,b.png,c.png,1,1,1,x,",
        "3XZ,T,Sort,A4,W1,Approved,31,d.png,b.png,,1,2,,,",
    ]
    read = read_responses(put(tmp_path, TURK + "\n".join(rows) + "\n"))
    assert [(one.response, one.line) for one in read] == [
        (Response("3XY", "W1", ("a.png", "b.png", "c.png"), ("1", "1", "2")), 2),
        (Response("3XY", "W2", ("a.png", "b.png", "c.png"), ("2", "1", "2")), 3),
        (Response("3XZ", "W1", ("d.png", "b.png"), ("1", "2")), 5),
    ]
    understood = "Read as results of a batch from Mechanical Turk (Input.image1 and Answer.group1, ...)"
    assert read.notes == (f"{understood}; 1 rejected assignments are left out.",)


def test_mechanical_turk_labels(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "HITId,WorkerId,AssignmentStatus,Input.url,Answer.kind\n1,u,Approved,a.png,cat\n1,v,Approved,a.png,dog\n",
    )
    rows = read_labels(path)
    assert (rows.task, rows.worker, rows.label) == (["a.png", "a.png"], ["u", "v"], ["cat", "dog"])
    assert rows.notes == ("Read as results of a batch from Mechanical Turk (Input.url and Answer.kind).",)


def test_mechanical_turk_answers_as_json(tmp_path: Path) -> None:
    def cell(answers: object) -> str:
        return '"' + json.dumps([answers]).replace('"', '""') + '"'

    header = "HITId,WorkerId,Input.url,Answer.taskAnswers\n"
    rows = [{"kind": {"label": "cat"}}, {"kind": {"cat": False, "dog": True}}, {"kind": "cow"}]
    text = "".join(f"{at},u,{at}.png,{cell(answers)}\n" for at, answers in enumerate(rows))
    assert read_labels(put(tmp_path, header + text)).label == ["cat", "dog", "cow"]
    header = "HITId,WorkerId,Input.image1,Input.image2,Answer.taskAnswers\n"
    path = put(tmp_path, f"{header}h,u,a.png,b.png,{cell({'group1': 1, 'group2': 2})}\n")
    assert read_responses(path)[0].response == Response("h", "u", ("a.png", "b.png"), ("1", "2"))
    with pytest.raises(UserError, match=r"line 2: the Answer\.taskAnswers are not answers"):
        read_responses(put(tmp_path, f"{header}h,u,a.png,b.png,x\n"))


def test_free_sorts_of_jspsych(tmp_path: Path) -> None:
    def places(*at: tuple[str, int, int]) -> str:
        cells = json.dumps([{"src": f"img/{name}.png", "x": x, "y": y} for name, x, y in at])
        return '"' + cells.replace('"', '""') + '"'

    one = places(("a", 10, 10), ("b", 80, 30), ("c", 600, 10))
    two = places(("a", 10, 10), ("b", 500, 30), ("c", 510, 100))
    text = "trial_type,subject,rt,init_locations,final_locations\nhtml,s1,9,,\n"
    text += f"free-sort,s1,9,x,{one}\nfree-sort,s2,9,x,{two}\n"
    path = put(tmp_path, text)
    assert sorts(path) == {"s1": ["img/a.png img/b.png", "img/c.png"], "s2": ["img/a.png", "img/b.png img/c.png"]}
    assert read_responses(path).notes == (
        "Read as free sorts of jsPsych: photos less than half a photo apart are a group.",
    )
    alone = put(tmp_path, f"rt,final_locations\n9,{one}\n", "anna.csv")
    assert sorts(alone) == {"anna": ["img/a.png img/b.png", "img/c.png"]}
    with pytest.raises(UserError, match=r"line 2: the final_locations are not the places of photos"):
        read_responses(put(tmp_path, "subject,final_locations\ns1,[1]\n"))


def test_labels_with_one_column_a_worker(tmp_path: Path) -> None:
    for text in ("task,rater1,rater2\nt1,yes,no\nt2,yes,NA\n", "rater,t1,t2\nrater1,yes,yes\nrater2,no,NA\n"):
        rows = read_labels(put(tmp_path, text))
        assert sorted(zip(rows.task, rows.worker, rows.label, strict=True), key=str) == [
            ("t1", "rater1", "yes"), ("t1", "rater2", "no"), ("t2", "rater1", "yes"), ("t2", "rater2", None),
        ]  # fmt: skip


def test_columns_that_are_called_otherwise(tmp_path: Path) -> None:
    path = put(tmp_path, "Wer,Was,Wohin,Wann\n1,Dog,a,x\n1,Cat,a,y\n1,Pear,b,z\n2,Dog,a,x\n2,Cat,b,y\n2,Pear,a,z\n")
    assert sorts(path, columns={"worker": "Wer", "item": "was", "group": "Wohin"}) == SORTS
    with pytest.raises(UserError, match="has no column Wem"):
        read_responses(path, columns={"worker": "Wem", "item": "Was", "group": "Wohin"})
    labels = put(tmp_path, "frage,person,antwort\na,u,1\n")
    assert read_labels(labels, columns={"item": "frage", "label": "antwort"}).task == ["a"]
    truth = put(tmp_path, "Foto,Art\na,x\n")
    assert read_truth(truth, columns={"item": "Foto", "category": "Art"}) == {"a": "x"}
    assert read_truth(put(tmp_path, "image,label\na,x\n")) == {"a": "x"}


def test_without_a_hit_an_item_twice_is_said_to_want_one(tmp_path: Path) -> None:
    path = put(tmp_path, "worker,item,group\nw,a,1\nw,b,1\nw,a,2\n")
    with pytest.raises(UserError, match=r"line 4: the item a is a second time .* name the sets .* in a column hit"):
        read_responses(path)
