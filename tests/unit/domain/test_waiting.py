"""How long one waits before something is tried again."""

from perpetualcc.domain.waiting import back_off


def test_back_off_doubles_up_to_five_minutes_with_a_jitter_of_its_own_for_each_task():
    assert all(2**n <= back_off(n, "t-1") <= 2**n * 1.25 for n in range(1, 8))
    assert back_off(3, "t-1") == back_off(3, "t-1") != back_off(3, "t-2")
    assert 300 <= back_off(99, "t-1") <= 375
