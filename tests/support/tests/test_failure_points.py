"""The points where tests stop a run."""

from tests.support.failure_points import FailurePoints


def test_no_place_is_left_armed_for_the_block_when_the_run_ended_without_coming_there(tmp_path):
    (tmp_path / "points").mkdir()
    with FailurePoints(tmp_path / "points").paused(lambda: "done") as outcome:
        # An append's auto compaction in the block would wait here forever.
        assert not list((tmp_path / "points").iterdir())
    assert not outcome.reached
    assert outcome.result == "done"
