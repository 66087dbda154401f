"""What a server may do: advertised ∩ policy, of what this host serves (mcpl.md 4 to 6)."""

from __future__ import annotations

import pytest

from cockpit.connect import grant
from cockpit.connect.config import DEFAULT_GRANT
from cockpit.core.message import Json

FULL: dict[str, Json] = {"version": "0.5", "pushEvents": True, "channels": True}


def test_true_at_a_node_stands_for_all_leaves() -> None:
    assert {f"channels.{leaf}" for leaf in ("register", "lifecycle", "publish", "incoming", "streaming")} <= (
        grant.advertised(FULL, tools=False)
    )
    hooks: dict[str, Json] = {"contextHooks": {"beforeInference": {"observe": False, "inject": True}}}
    assert grant.advertised(hooks, tools=False) == {
        "contextHooks.beforeInference.inject.system",
        "contextHooks.beforeInference.inject.beforeUser",
        "contextHooks.beforeInference.inject.afterUser",
    }


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"channels": False},
        {"channels": {"register": False}},
        {"channels": {"register": 1}},
        {"channels": ["register"]},
    ],
)
def test_absent_and_false_claim_nothing(manifest: dict[str, Json]) -> None:
    assert grant.advertised(manifest, tools=False) == set()


def test_tools_are_mcps_own_claim() -> None:
    assert grant.advertised({"tools": True}, tools=False) == set()
    assert grant.advertised({}, tools=True) == {"tools"}


def test_an_object_claims_the_leaf_that_is_also_a_node() -> None:
    assert grant.advertised({"inferenceRequest": {"streaming": False}}, tools=False) == {"inferenceRequest"}


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("channels.*", "channels.publish", True),
        ("*", "pushEvents", True),
        ("*", "channels.publish", False),
        ("channels", "channels.publish", False),
        ("channels.*", "channels", False),
        ("contextHooks.*", "contextHooks.beforeInference.observe", False),
        ("*.publish", "channels.publish", True),
        ("channels.pub*", "channels.publish", False),
    ],
)
def test_a_star_is_exactly_one_segment(pattern: str, path: str, covered: bool) -> None:
    assert grant.covers(pattern, path) is covered


def test_the_grant_is_no_wider_than_any_of_the_three() -> None:
    claimed = grant.advertised({**FULL, "modelInfo": True}, tools=True)
    assert grant.effective(claimed, DEFAULT_GRANT) == set(DEFAULT_GRANT)
    assert grant.effective(claimed, ["channels.*", "modelInfo"]) == {
        path for path in DEFAULT_GRANT if path.startswith("channels.")
    }
    assert grant.effective({"pushEvents"}, DEFAULT_GRANT) == {"pushEvents"}
    assert grant.effective(claimed, []) == set()


SETS: dict[str, Json] = {
    "featureSets": {
        "a.on": {"uses": ["pushEvents"]},
        "a.needs": {"uses": ["pushEvents", "channels.publish"]},
        "a.silent": {"uses": ["channels.publish"]},
        "a.none": {},
        "a.empty": {"uses": []},
        "a.odd": {"uses": ["pushEvents", "nonsense"]},
    }
}


def test_a_feature_set_is_on_only_with_all_that_it_needs() -> None:
    sets = grant.feature_sets(SETS)
    few = frozenset({"pushEvents"})
    assert sets.push("a.on", few) == "on"
    assert sets.push("a.needs", few) == "off"
    assert sets.push("a.needs", few | {"channels.publish"}) == "on"
    assert sets.push("a.silent", few) == "mismatch"
    assert [sets.push(name, few) for name in ("a.none", "a.empty", "a.odd")] == ["off"] * 3
    assert [sets.push(name, few) for name in ("other", None, 3)] == ["unknown"] * 3
    assert sets.off(few) == ("a.empty", "a.needs", "a.none", "a.odd", "a.silent")


def test_the_array_of_older_servers_reads_the_same() -> None:
    sets = grant.feature_sets({"featureSets": [{"name": "a", "uses": ["pushEvents"]}, {"uses": []}, "x"]})
    assert sets.push("a", frozenset({"pushEvents"})) == "on"


@pytest.mark.parametrize(
    ("version", "legacy"), [("0.4", True), ("0.5", False), ("0.10", False), ("1.0", False), ("x", True), (None, True)]
)
def test_which_versions_are_older(version: Json, legacy: bool) -> None:
    assert grant.is_legacy({"version": version}) is legacy
