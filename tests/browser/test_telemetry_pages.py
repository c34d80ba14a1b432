"""Pages that show telemetry: content, layout, accessibility and no errors."""

import pytest

from support.browser import Site, Tab
from support.demo_pages import TELEMETRY, check_page


@pytest.mark.parametrize("name", TELEMETRY)
def test_a_page_is_complete_fits_and_is_accessible(name: str, tab: Tab, demo: Site) -> None:
    check_page(tab, demo, name)
