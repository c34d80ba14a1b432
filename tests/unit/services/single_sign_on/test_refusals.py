"""The dashboard has a text for every reason."""

import re
from pathlib import Path

from spanwise.services.single_sign_on.refusals import Reason

TEXTS = Path(__file__).parents[4] / "web" / "src" / "features" / "auth" / "refusals.ts"


def test_the_dashboard_has_a_text_for_every_reason() -> None:
    codes = re.findall(r"^  (\w+):", TEXTS.read_text(), re.MULTILINE)
    assert sorted(codes) == sorted(Reason)
