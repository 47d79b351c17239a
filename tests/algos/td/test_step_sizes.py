"""The step sizes of the comparison."""

from jaxgames.algos.td import step_sizes


def test_step_sizes_fall_when_25_tests_in_a_row_are_lost():
    schedule = step_sizes.TestedStepSizes()
    assert schedule.step_size == 0.25
    for _ in range(24):
        schedule = schedule.after_test(-10.0)
    assert schedule.step_size == 0.25  # not 25 tests yet
    schedule = schedule.after_test(240.0)
    assert schedule.step_size == 0.25 and sum(schedule.recent) == 0  # not less than zero
    schedule = schedule.after_test(-11.0)  # the first of the 25 is forgotten
    assert schedule.step_size == 0.1 and schedule.recent == ()  # 25 new tests decide about the next one


def test_step_sizes_stay_while_the_player_gets_better():
    schedule = step_sizes.TestedStepSizes()
    for number in range(100):
        schedule = schedule.after_test(30.0 if number % 3 == 0 else -14.0)
    assert schedule.step_size == 0.25 and len(schedule.recent) == 25


def test_the_last_step_size_stays():
    schedule, seen = step_sizes.TestedStepSizes(), []
    for _ in range(12 * 25):
        seen.append(schedule.step_size)
        schedule = schedule.after_test(-1.0)
    assert tuple(dict.fromkeys(seen)) == step_sizes.STEP_SIZES and seen[-1] == 0.001
    assert [seen.count(size) for size in step_sizes.STEP_SIZES[:-1]] == [25] * 7
