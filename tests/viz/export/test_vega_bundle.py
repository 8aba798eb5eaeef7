from viz.export.vega_bundle import vega_bundle


def test_the_script_draws_charts_and_may_stand_in_a_page():
    script = vega_bundle()
    assert "window.embedChart=" in script
    assert not [end for end in ("</script", "<script", "<!--") if end in script.lower()]
