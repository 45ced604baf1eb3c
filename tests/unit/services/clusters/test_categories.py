"""Names, merges and moved photos of a run: as the lead decides, undoes, and finds them in the next run."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next
from made_results import VERSIONS, result

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters import categories
from crowdclust_app.services.clusters.carrying_over import carry_over
from crowdclust_app.services.clusters.categories import Categories, read_categories, tidy_name
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import save_run

LABELS = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 0])


def stored(campaign: Campaign, labels: np.ndarray = LABELS) -> Run:
    """A run with these clusters."""
    n_clusters = int(labels.max())
    made = replace(result(1, len(labels), 1, n_clusters), labels=labels, shown=labels > 0)
    settings = FitSettings(n_clusters=n_clusters)
    run = save_run(campaign, read_table(campaign), settings, made, versions=VERSIONS, stage="all")
    carry_over(campaign, run)
    return run


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    made = make_campaign()
    do_next(made, made.add_worker("Ann"))
    stored(made)
    return made


def now(campaign: Campaign, run: int = 1) -> Categories:
    return read_categories(campaign, run, 3)


def names(campaign: Campaign) -> tuple[str, ...]:
    return tuple(item.path for item in campaign.items())


def by_item(campaign: Campaign, state: Categories) -> dict[int, tuple[str | None, str | None]]:
    """Category and override by item number."""
    every = names(campaign)
    found = state.columns(dict(zip(every, LABELS.tolist(), strict=True)))
    return {number: found[name] for number, name in enumerate(every) if name in found}


def test_a_name_is_the_category_of_the_cluster_and_can_be_changed_and_taken_away(campaign: Campaign) -> None:
    assert by_item(campaign, now(campaign)) == {}
    state = categories.rename(campaign, now(campaign), 2, "  Birds \n of\tprey ")
    assert state == now(campaign)
    assert by_item(campaign, state) == dict.fromkeys((5, 6, 7, 8), ("Birds of prey", None))
    state = categories.rename(campaign, state, 2, "Birds")
    assert (state.name(2), state.title(1), state.title(2)) == ("Birds", "Cluster 1", "Birds")
    before = campaign.revision
    assert categories.rename(campaign, state, 2, "Birds") == state
    assert campaign.revision == before
    state = categories.rename(campaign, state, 2, " \u200b\u202e ")
    assert by_item(campaign, state) == {}
    assert state == now(campaign)


def test_clusters_of_one_name_are_one_category(campaign: Campaign) -> None:
    state = categories.rename(campaign, now(campaign), 1, "Birds")
    state = categories.rename(campaign, state, 3, "bIRDS")
    assert state.together_with(3) == (1, 3)
    assert state.name(3) == "Birds", "spelt as it was there"
    state = categories.rename(campaign, state, 3, "Birds of all kinds")
    assert [state.name(place) for place in (1, 2, 3)] == ["Birds of all kinds", "", "Birds of all kinds"]
    state = categories.take_apart(campaign, state, 1)
    assert [state.name(place) for place in (1, 2, 3)] == ["", "", "Birds of all kinds"]
    with pytest.raises(UserError, match="in no category"):
        categories.take_apart(campaign, state, 1)
    assert state == now(campaign)


def test_merging_makes_one_category(campaign: Campaign) -> None:
    state = categories.merge(campaign, now(campaign), [2, 3])
    assert {number: entry[0] for number, entry in by_item(campaign, state).items()} == dict.fromkeys(
        range(5, 11), "Clusters 2 and 3"
    )
    state = categories.merge(campaign, state, [1, 2])
    assert state.together_with(1) == (1, 2, 3)
    assert state.name(1) == "Clusters 2 and 3"
    with pytest.raises(UserError, match="two categories"):
        categories.merge(campaign, state, [1, 2])
    state = categories.undo(campaign, state)
    assert state.name(1) == ""
    assert state == now(campaign)


def test_moved_photos_are_overrides(campaign: Campaign) -> None:
    every = names(campaign)
    state = categories.rename(campaign, now(campaign), 2, "Birds")
    state = categories.move(campaign, state, [every[0], every[11], every[5]], 2)
    assert state.places(LABELS, every).tolist() == [2, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 2]
    found = by_item(campaign, state)
    assert found[0] == ("Birds", "Birds")
    assert found[11] == ("Birds", "Birds"), "a photo that nobody sorted can be put somewhere, too"
    assert found[5] == ("Birds", None), "where it is already, nothing is overridden"
    state = categories.move(campaign, state, [every[0]], 3)
    assert by_item(campaign, state)[0] == (None, "cluster 3")
    state = categories.rename(campaign, state, 3, "Cats")
    assert by_item(campaign, state)[0] == ("Cats", "Cats")
    state = categories.move(campaign, state, [every[0]], 0)
    assert 0 not in by_item(campaign, state)
    with pytest.raises(UserError, match="no photos"):
        categories.move(campaign, state, [], 1)
    with pytest.raises(UserError, match="no category 9"):
        categories.move(campaign, state, [every[0]], 9)
    assert state == now(campaign)


def test_photos_split_off_are_a_category_without_a_cluster(campaign: Campaign) -> None:
    every = names(campaign)
    state = categories.split_off(campaign, now(campaign), every[:2])
    state = categories.split_off(campaign, state, every[5:6])
    assert state.split_off == ("New category", "New category 2")
    assert state.places(LABELS, every).tolist() == [4, 4, 1, 1, 1, 5, 2, 2, 2, 3, 3, 0]
    state = categories.rename(campaign, state, 4, "Owls")
    assert by_item(campaign, state)[1] == ("Owls", "Owls")
    state = categories.move(campaign, state, [every[9]], 4)
    assert state.places(LABELS, every)[9] == 4
    with pytest.raises(UserError, match="needs a name"):
        categories.rename(campaign, state, 4, "")
    with pytest.raises(UserError, match="a category Owls already"):
        categories.split_off(campaign, state, [every[3]], "owls")
    state = categories.merge(campaign, state, [1, 4])
    assert state.split_off == ("New category 2",)
    assert state.together_with(1) == (1,)
    assert state.places(LABELS, every).tolist() == [1, 1, 1, 1, 1, 4, 2, 2, 2, 1, 3, 0]
    state = categories.rename(campaign, state, 1, "Night birds")
    assert by_item(campaign, state)[9] == ("Night birds", "Night birds"), "moved photos follow the name"
    state = categories.rename(campaign, state, 1, "")
    assert by_item(campaign, state)[9] == (None, "cluster 1")
    assert state == now(campaign)


def test_everything_can_be_undone_and_done_again(campaign: Campaign) -> None:
    every = names(campaign)
    states = [now(campaign)]
    states.append(categories.rename(campaign, states[-1], 1, "A"))
    states.append(categories.merge(campaign, states[-1], [1, 2]))
    states.append(categories.split_off(campaign, states[-1], every[:1], "B"))
    states.append(categories.move(campaign, states[-1], every[1:3], 4))
    back = []
    for before in reversed(states[:-1]):
        last = categories.to_undo(now(campaign))
        assert last is not None
        back.append(last)
        state = categories.undo(campaign, now(campaign))
        assert (state.names, state.moves) == (before.names, before.moves)
    with pytest.raises(UserError, match="nothing to undo"):
        categories.undo(campaign, now(campaign))
    for expected, decision in zip(states[1:], reversed(back), strict=True):
        state = categories.again(campaign, now(campaign), decision)
        assert (state.names, state.moves) == (expected.names, expected.moves)
    words = [categories.in_words(state, decision) for decision in state.decisions]
    assert words == [
        "named cluster 1 A",
        "made clusters 1, 2 one category, A",
        "split off 1 photo as B",
        "split off 2 photos as B",
    ]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('say "hello", world', 'say "hello", world'),
        ("=HYPERLINK(1)", "=HYPERLINK(1)"),
        ("👩‍🌾 farm 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👩‍🌾 farm 🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
        ("שלום עולם", "שלום עולם"),
        ("abc\u202edcba", "abcdcba"),
        ("e\u0301te\u0301", "été"),
        ("\x00a\x07", "a"),
        ("\u200d\u200d", ""),
        ("", ""),
    ],
)
def test_names_of_all_kinds_are_kept_as_people_see_them(campaign: Campaign, given: str, kept: str) -> None:
    assert tidy_name(given) == kept
    state = categories.rename(campaign, now(campaign), 1, given)
    assert now(campaign).name(1) == state.name(1) == kept


def test_a_name_has_an_end(campaign: Campaign) -> None:
    with pytest.raises(UserError, match="longer than 80"):
        categories.rename(campaign, now(campaign), 1, "x" * 81)
    assert now(campaign).decisions == ()


def test_a_new_run_takes_the_names_of_what_it_holds(campaign: Campaign) -> None:
    every = names(campaign)
    state = categories.rename(campaign, now(campaign), 1, "Birds")
    state = categories.rename(campaign, state, 3, "Cats")
    state = categories.split_off(campaign, state, [every[5]], "Odd")
    state = categories.move(campaign, state, [every[9]], 1)
    # birds are two clusters now, cats are lost among others, item 9 is no bird, item 5 not odd
    run = stored(campaign, np.array([1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 0]))
    carried = now(campaign, 2)
    assert dict(carried.names) == {1: "Birds", 2: "Birds"}
    assert dict(carried.carried) == {1: 1, 2: 1}
    assert carried.places(np.array(run.result.labels), every).tolist() == [1, 1, 1, 2, 2, 4, 3, 3, 3, 1, 3, 0]
    assert categories.to_undo(carried) is None
    confirmed = categories.rename(campaign, carried, 1, "Birds")
    assert dict(confirmed.carried) == {}, "a name that somebody gives is not carried over any more"
    third = now(campaign, stored(campaign).number)
    assert dict(third.names) == {1: "Birds"}
    assert set(third.carried.values()) == {2}


def test_nothing_is_carried_over_where_nothing_was_decided(campaign: Campaign) -> None:
    assert now(campaign, stored(campaign).number).decisions == ()


def test_categories_and_overrides_are_in_the_tables(campaign: Campaign, tmp_path: Path) -> None:
    every = names(campaign)
    state = categories.rename(campaign, now(campaign), 2, '=SUM(1), "birds" שלום')
    categories.move(campaign, state, [every[0], every[11]], 2)
    export_campaign(campaign, tmp_path / "out")
    with (tmp_path / "out" / "clusters.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    called = '\'=SUM(1), "birds" שלום'  # written so that no spreadsheet runs it
    assert [row["category"] for row in rows] == [called, *[""] * 4, *[called] * 4, "", "", called]
    assert [row["override"] for row in rows] == [called, *[""] * 10, called]
    assert [row["cluster"] for row in rows][:6] == ["1", "1", "1", "1", "1", "2"], "the run's clusters stay"
