"""Texts that would run a script or load something if a page took them for markup."""

from playwright.sync_api import Page

PROBE = "window.__executed=1"
CORPUS = [
    f"<script>{PROBE}</script>",
    f"<img src=x onerror={PROBE}>",
    f'"><svg onload={PROBE}>',
    f"[click](javascript:{PROBE})",
    f"<iframe srcdoc='<script>parent.{PROBE.removeprefix('window.')}</script>'>",
    f"</pre></code><details open ontoggle={PROBE}>",
    f"{{{{constructor.constructor('{PROBE}')()}}}}",
    f"<a href='javascript:{PROBE}'>x</a><math><mi//xlink:href='data:x,{PROBE}'>",
]
# They would ask another host.
LOADING = [
    "<img src=https://evil.example/a.png>",
    "![a](https://evil.example/b.png)",
    "<link rel=stylesheet href=//evil.example/c.css><style>@import '//evil.example/d.css'</style>",
    "<base href=https://evil.example/><form action=//evil.example/e><button>Go</button></form>",
]
_DANGEROUS = """() => {
    const markup = '#root script, #root iframe, #root base, #root object, #root embed,'
        + ' #root [onerror], #root [onload], #root [ontoggle], #root form[action*=evil]';
    const safe = new Set(['http:', 'https:', 'mailto:', 'blob:']);
    const links = [...document.querySelectorAll('a')].filter((one) => {
        const href = one.getAttribute('href') ?? one.getAttribute('xlink:href');
        return href && !safe.has(new URL(href, document.baseURI).protocol);
    });
    return [...document.querySelectorAll(markup), ...links].map((one) => one.outerHTML);
}"""


def find_dangers(page: Page) -> list[str]:
    """Return what was executed, and elements that come from a text or could execute one."""
    executed = page.evaluate("window.__executed")
    elements: list[str] = page.evaluate(_DANGEROUS)
    return [f"executed: {executed}"] * (executed is not None) + elements
