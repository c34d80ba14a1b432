"""Installs each peer, pinned, into an environment of its own in `.peers/`."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bench.environment import ROOT

ENVIRONMENTS = ROOT / ".peers"
UV = ROOT / ".uv" / "bin" / "uv"


@dataclass(frozen=True)
class Package:
    """A pinned release; the only place that names versions of peers."""

    product: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.product} {self.version}"


PHOENIX = Package("Phoenix", "arize-phoenix", "20.26.1")
MLFLOW = Package("MLflow", "mlflow", "3.17.2")


class SkippedPeerError(Exception):
    """A peer that cannot be measured; the message is the sentence that the report shows."""


def install_peer(package: Package, environments: Path = ENVIRONMENTS, uv: Path = UV) -> Path:
    """Install a peer unless this version is installed; return the folder of its commands."""
    environment = environments / package.name
    installed = environment / "installed-version"
    if not installed.exists() or installed.read_text() != package.version:
        environments.mkdir(exist_ok=True)
        python = environment / "bin" / "python"
        requirement = f"{package.name}=={package.version}"
        # Without compiled bytecode, the first start would be slower than all later ones.
        options = ("--compile-bytecode", "--python", python)
        commands = (
            (uv, "venv", "--clear", "--python", sys.executable, environment),
            (uv, "pip", "install", *options, requirement),
        )
        # The output may name paths and hosts of this machine, so it is kept out of the report.
        with (environments / f"{package.name}.log").open("wb") as log:
            for command in commands:
                _run(package, command, log)
        installed.write_text(package.version)
    return environment / "bin"


def _run(package: Package, command: tuple[object, ...], log: BinaryIO) -> None:
    words = [str(word) for word in command]
    try:
        subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SkippedPeerError(f"{package} was skipped: it could not be installed.") from error
