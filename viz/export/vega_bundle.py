"""The script that draws Vega-Lite charts in a page of its own: Vega, Vega-Lite and Vega-Embed in one text."""

import subprocess
import sys
from functools import cache

# The interpreter (`ast`) reads expressions where the policy of a page forbids to compile them; tooltips, the menu and the
# default style would write styles into the page.
_SNIPPET = """
window.embedChart = (element, specification, config) => vegaEmbed(element, specification, {
  ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: "canvas", config,
});
"""
# For the six seconds that it takes, it holds the lock of all threads: in a process of its own the app goes on.
_PROGRAM = (
    "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1]).encode())"
)


@cache
def vega_bundle() -> str:
    """JavaScript that defines `embedChart(element, specification, config)`; it needs neither a network nor `eval`."""
    program = [sys.executable, "-c", _PROGRAM, _SNIPPET]
    script = subprocess.run(program, check=True, capture_output=True).stdout.decode()
    # What ends a block of script in HTML must not be in one.
    assert not any(end in script.lower() for end in ("</script", "<!--"))
    return script
