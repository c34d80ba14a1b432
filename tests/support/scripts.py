"""Scripts outside the package, run in a child process."""

import runpy


def run_script(path: str) -> None:
    """Run a file as a program, with the arguments of this process."""
    runpy.run_path(path, run_name="__main__")
