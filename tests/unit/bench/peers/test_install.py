"""A peer that cannot be installed or started is skipped with one sentence."""

import sys
from pathlib import Path

import pytest
from bench.peers.install import MLFLOW, PHOENIX, Package, SkippedPeerError, install_peer
from bench.peers.server import run_server


@pytest.mark.parametrize("uv", [Path("/no/such/uv"), Path("/bin/false")])
@pytest.mark.parametrize("package", [PHOENIX, MLFLOW], ids=str)
def test_a_failed_installation_is_one_sentence(package: Package, uv: Path, tmp_path: Path) -> None:
    with pytest.raises(SkippedPeerError) as skipped:
        install_peer(package, tmp_path, uv)
    assert str(skipped.value) == f"{package} was skipped: it could not be installed."


def test_an_installed_version_is_not_installed_again(tmp_path: Path) -> None:
    environment = tmp_path / PHOENIX.name
    environment.mkdir()
    (environment / "installed-version").write_text(PHOENIX.version)
    assert install_peer(PHOENIX, tmp_path, Path("/no/such/uv")) == environment / "bin"


def test_another_version_is_replaced(tmp_path: Path) -> None:
    environment = tmp_path / PHOENIX.name
    environment.mkdir()
    (environment / "installed-version").write_text("0.0.1")
    with pytest.raises(SkippedPeerError):
        install_peer(PHOENIX, tmp_path, Path("/no/such/uv"))


def test_a_server_that_exits_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    command = [sys.executable, "-c", "raise SystemExit('no')"]
    with (
        pytest.raises(SkippedPeerError, match=r"^Peer 1 was skipped: its server did not start\.$"),
        run_server("Peer 1", command, {}, folder, "http://127.0.0.1:9/ready"),
    ):
        pytest.fail("a server that has exited is not ready")
    assert (tmp_path / "data.log").read_text() == "no\n"
