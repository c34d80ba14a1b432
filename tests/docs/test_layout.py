"""The layout of the repository: tests mirror the source by path."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SOURCE = ROOT / "src" / "spanwise"
# Which part of the source each of these folders mirrors.
MIRRORED = {
    "api": SOURCE / "api",
    "storage": SOURCE / "storage",
    "unit": SOURCE,
}
# Their tests run the whole system, and do not belong to one module.
WHOLE_SYSTEM = {"adversarial", "browser", "crash", "docs", "e2e"}
MIN_MIRRORED_SHARE = 0.8


def has_counterpart(test: Path) -> bool:
    """Return whether the module that a test is named after exists.

    The module `a/b.py` has its tests in `a/test_b.py`, or in several files of the folder `a/b/`.
    """
    kind, *folders = test.relative_to(TESTS).parent.parts
    if kind not in MIRRORED:
        return False
    folder = MIRRORED[kind].joinpath(*folders)
    by_name = folder / f"{test.stem.removeprefix('test_')}.py"
    by_folder = folder.with_suffix(".py")
    return by_name.is_file() or (bool(folders) and by_folder.is_file())


def test_most_tests_mirror_the_source_by_path() -> None:
    tests = [
        test
        for test in sorted(TESTS.rglob("test_*.py"))
        if test.relative_to(TESTS).parts[0] not in WHOLE_SYSTEM
    ]
    others = [str(test.relative_to(TESTS)) for test in tests if not has_counterpart(test)]
    assert len(tests) > 100
    assert 1 - len(others) / len(tests) >= MIN_MIRRORED_SHARE, others


def test_a_test_without_a_module_of_its_name_has_no_counterpart() -> None:
    assert has_counterpart(TESTS / "unit" / "test_settings.py")
    assert has_counterpart(TESTS / "api" / "routes" / "accounts" / "auth" / "test_anything.py")
    assert not has_counterpart(TESTS / "unit" / "test_anything.py")
    assert not has_counterpart(TESTS / "api" / "routes" / "accounts" / "test_anything.py")
    assert not has_counterpart(TESTS / "golden" / "test_settings.py")
