from viz.builders.token_colours import with_token_colours


def test_a_script_stands_after_the_functions_that_it_calls(tmp_path):
    script = tmp_path / "own.js"
    script.write_text('const red = (share) => between(["#ffffff", "#ff0000"], share);\n', encoding="utf-8")
    shared, own = with_token_colours(script).split("const red", 1)
    assert "function between(" in shared
    assert "function isDark(" in shared
    assert own.startswith(" = (share)")
