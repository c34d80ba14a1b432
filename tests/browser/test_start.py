"""The page "Get started": a snippet for each client."""

from pathlib import Path

from playwright.sync_api import expect

from support.browser import Tab

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"


def test_a_client_is_picked_by_language_and_name(tab: Tab) -> None:
    page = tab.open("/start")
    expect(page.get_by_role("region", name="Install")).to_contain_text("pip install openai ")
    page.get_by_role("button", name="LlamaIndex").click()
    expect(page.get_by_role("button", name="LlamaIndex")).to_have_attribute("aria-pressed", "true")
    assert "with=llama-index" in page.url
    install, code = (SNIPPETS / "llama-index-python.py").read_text().split("\n", 1)
    assert page.get_by_role("region", name="LlamaIndex").inner_text() == code
    assert f"# {page.get_by_role('region', name='Install').inner_text()}" == install
    page.get_by_role("tab", name="TypeScript").click()
    page.get_by_role("button", name="Mastra").click()
    expect(page.get_by_role("region", name="Mastra")).to_contain_text("OtelExporter")
    page.reload()
    expect(page.get_by_role("region", name="Mastra")).to_contain_text("OtelExporter")
    assert tab.find_violations() == []
