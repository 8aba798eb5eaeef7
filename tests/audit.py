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
    code, message = verdict(answer)
    print(message)
    return code


def verdict(answer: str) -> tuple[int, str]:
    """Exit code and message for the JSON that pip-audit prints: 1 if it knows of a vulnerability."""
    try:
        dependencies = json.loads(answer)["dependencies"]
    except (ValueError, LookupError, TypeError):
        return 0, NOBODY
    audited = [dependency for dependency in dependencies if "vulns" in dependency]
    if not audited:
        return 0, NOBODY
    vulnerabilities = [
        f"{dependency['name']} {dependency['version']}: {known['id']}, "
        f"mended in {', '.join(known['fix_versions']) or 'no version yet'}"
        for dependency in audited
        for known in dependency["vulns"]
    ]
    skipped = [dependency["name"] for dependency in dependencies if "vulns" not in dependency]
    unknown = f" Nothing could be asked of {', '.join(skipped)}." if skipped else ""
    message = "\n".join(vulnerabilities) or f"No vulnerability is known of {len(audited)} requirements."
    return int(bool(vulnerabilities)), message + unknown


if __name__ == "__main__":
    sys.exit(main())
