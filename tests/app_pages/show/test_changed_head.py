from app_pages.show.changed_head import DRAWN, MOST_DRAWN, visible_window


def test_a_map_that_is_small_enough_is_drawn_whole():
    assert visible_window(MOST_DRAWN, 3) is None


def test_of_a_larger_one_a_part_around_the_query_is_drawn():
    n = MOST_DRAWN + 1
    assert visible_window(n, 0) == (range(DRAWN),) * 2
    assert visible_window(n, n - 1) == (range(n - DRAWN, n),) * 2
    queries, keys = visible_window(n, 300) or ()
    assert queries == keys
    assert len(keys) == DRAWN
    assert 300 in keys
