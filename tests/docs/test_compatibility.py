"""The compatibility page shows what ran."""

import re

import pytest

from tests.support import compatibility

SPARKS = re.findall(
    r'SparkLine\("[\d.]+", "([\d.]+)"',
    (compatibility.ROOT / "project/SparkVersions.scala").read_text(encoding="utf-8"),
)


def test_the_page_is_made_from_the_results():
    assert compatibility.PAGE.read_text(encoding="utf-8") == compatibility.page()


def test_each_feature_was_tried_with_each_spark():
    features, runs = compatibility.results()
    names = {feature for feature, _ in features}
    assert len(names) >= 30
    assert set(features) == {(name, spark) for name in names for spark in SPARKS}
    assert {run["spark"] for run in runs} == set(SPARKS)


def test_an_outcome_that_differs_from_the_page_fails(monkeypatch):
    monkeypatch.delenv("ZCUBE_COMPATIBILITY", raising=False)
    (feature, spark), outcome = next(iter(compatibility.results()[0].items()))
    compatibility.check(spark, feature, outcome)
    for other in [(spark, feature, "rejected"), (spark, "unheard of", outcome)]:
        with pytest.raises(AssertionError, match="another outcome"):
            compatibility.check(*other)
