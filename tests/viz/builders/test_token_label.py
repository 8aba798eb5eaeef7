from viz.builders.token_label import label, visible, width, width_in_letters


def test_a_short_token_is_written_as_it_is():
    assert label("##ing", 16) == "##ing"


def test_a_long_token_ends_in_an_ellipsis_and_fits():
    assert label("abcdefgh", 8) == "abcdefgh"
    assert label("abcdefghi", 8) == "abcdefg…"


def test_wide_letters_count_double():
    assert width_in_letters("ab") == 2
    assert width_in_letters("漢字") == 4
    assert label("漢字漢字", 6) == "漢字…"


def test_an_accent_takes_no_room_and_stays_with_its_letter():
    assert width_in_letters("e\u0301") == 1
    assert label("abe\u0301cd", 4) == "abe\u0301…"


def test_an_emoji_is_not_cut_at_a_joiner():
    assert label("👩\u200d👧\u200d👦", 4) == "👩…"


def test_scripts_that_a_monospace_font_may_lack_get_more_room_than_latin():
    assert width("שלום", 10) > width("abcd", 10)


def test_what_leaves_no_trace_is_made_visible():
    assert visible(" a\n\tb\x00") == "·a↵⇥b␣"
    assert visible("") == "·"
    assert visible("\u0301") == "◌\u0301"
    assert visible("\ud800") == "␣"


def test_markup_is_left_alone():
    assert label("<script>", 16) == "<script>"
