"""python -m tests.audit

Asks whether vulnerabilities are known of the pinned requirements, by pip-audit, which sends their names and versions to
PyPI. Exits with 1 where some are. Where nobody can be asked, one sentence says so, and nothing has failed.
"""

import json
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
PATIENCE = 300  # seconds
NOBODY = "Whether vulnerabilities are known of the requirements could not be asked: the index cannot be reached, or does not say."


def main() -> int:
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--requirement",
        str(REQUIREMENTS),
        "--no-deps",
        "--disable-pip",
    ]
    command += ["--format", "json", "--progress-spinner", "off"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        answer = ""
    code, said = verdict(answer)
    print(said)
    return code


def verdict(answer: str) -> tuple[int, str]:
    """What pip-audit's answer, in JSON, amounts to: the exit status, and what is said."""
    try:
        asked = json.loads(answer)["dependencies"]
    except (ValueError, LookupError, TypeError):
        return 0, NOBODY
    known = [each for each in asked if "vulns" in each]
    if not known:
        return 0, NOBODY
    found = [
        f"{each['name']} {each['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'no version yet'}"
        for each in known
        for one in each["vulns"]
    ]
    left = [each["name"] for each in asked if "vulns" not in each]
    unknown = f" Nothing could be asked of {', '.join(left)}." if left else ""
    said = "\n".join(found) or f"No vulnerability is known of {len(known)} requirements."
    return int(bool(found)), said + unknown


if __name__ == "__main__":
    sys.exit(main())
