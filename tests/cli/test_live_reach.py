"""Reaching the controller from another host, and without waiting for libraries that nobody uses."""

import json
import subprocess
import sys

import pytest

from cli.controlled import PATIENCE, Controller
from cli.user import environment
from ports import free_port


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A certificate for localhost, one for an operator, and the authority behind both."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*words):
        try:
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
        except FileNotFoundError:
            pytest.skip("openssl is not installed, so there are no certificates to test with")

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(*new, "-x509", "-days", "2", "-subj", "/CN=our ca", "-keyout", "ca.key", "-out", "ca.crt")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    for name in ("localhost", "operator"):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-days", "2", "-out", f"{name}.crt")
    return folder


@pytest.fixture(scope="module")
def far(certificates, tmp_path_factory):
    """The address of a controller that is reached over TLS."""
    port = free_port()
    files = {"certificate": "localhost.crt", "key": "localhost.key", "client_ca": "ca.crt"}
    tcp = {"listen": f"127.0.0.1:{port}", **{name: str(certificates / file) for name, file in files.items()}}
    with Controller(tmp_path_factory.mktemp("far"), tcp=tcp):
        yield f"tcp://localhost:{port}"


def test_an_operator_with_a_certificate(penstock, far, certificates, monkeypatch):
    for name, file in (("CA", "ca.crt"), ("CERTIFICATE", "operator.crt"), ("KEY", "operator.key")):
        monkeypatch.setenv(f"PENSTOCK_{name}", str(certificates / file))
    outcome = penstock("policy", "--address", far, "--json")
    assert (outcome.code, json.loads(outcome.out)) == (0, {"policy": "fair-share"})


def test_somebody_without_one(penstock, far, certificates, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CA", str(certificates / "ca.crt"))
    outcome = penstock("policy", "--address", far)
    assert (outcome.code, outcome.out) == (2, "")
    assert "does not let us in" in outcome.err and outcome.err.count("\n") == 1


def test_a_controller_that_nobody_vouches_for(penstock, far):
    outcome = penstock("policy", "--address", far)
    assert outcome.code == 2
    assert "cannot be reached" in outcome.err and "certificate" in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["status", "--address", "/nowhere"], ["pace", "--in", "/dev/null"], ["run", "--volume", "x", "true"]]
)
def test_nothing_of_a_simulation_is_imported(arguments):
    report = "import atexit, sys; atexit.register(lambda: print(*{name.split('.')[0] for name in sys.modules}))"
    code = f"{report}; sys.argv[1:] = {arguments!r}; from penstock.cli import main; main()"
    env = environment(PENSTOCK="off")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=False, timeout=PATIENCE)
    loaded = set(done.stdout.decode().split("\n")[-2].split())
    assert "penstock" in loaded
    assert not {"numba", "numpy", "scipy", "matplotlib", "yaml"} & loaded
