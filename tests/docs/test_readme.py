"""The README's commands, run unchanged against a real service."""

import json
import re
import subprocess
from pathlib import Path

from support.process import run_service

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = "http://localhost:8787"


def script_under(heading: str) -> str:
    section = README.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    [script] = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return str(script)


def test_the_first_steps_need_only_curl(tmp_path: Path) -> None:
    script = script_under("First steps")
    assert EXAMPLE in script
    assert "jq" not in script
    with run_service(tmp_path) as service:
        ran = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=script.replace(EXAMPLE, service.url),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in re.findall(r"\{.*?\}\}(?=\{|\s*$)", ran.stdout)]
    user, key, profile = (answer["data"] for answer in answers)
    assert (user["name"], user["role"]) == ("Ann", "admin")
    assert key["key"].startswith("sw_")
    assert profile["id"] == user["id"]


def test_the_two_commands_exist() -> None:
    makefile = README.with_name("Makefile").read_text()
    for command in re.findall(r"^make (\w+)", script_under("Run it"), re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
