r"""What would be published: a source archive and a wheel, built, and installed into an environment with nothing else.

From the repository's root: `make dist-check`. It takes a minute or two, and needs the packages that ours depends on.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
_QUESTION = """
import shuffle_sym as ss, sympy as sp
assert ss.__file__.startswith({inside!r}), ss.__file__
assert ss.__version__ == {version!r}, ss.__version__
assert ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).exact(sp.Rational(6, 5)) == sp.Rational(2552, 15625)
assert ss.audit.run(["K-Thm10"])["K-Thm10"].verdict == "false"
"""


def main() -> None:
    """Builds, looks inside, installs both archives in turn, and asks each a question."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "dist"
        _run(sys.executable, "-m", "build", "--outdir", str(built), str(ROOT))
        (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
        version = wheel.name.split("-")[1]
        _look_inside(wheel, source)
        for archive in (wheel, source):
            _install_and_ask(archive, Path(folder) / archive.suffix.strip("."), version)
            print(f"{archive.name}: installed, answers, and is version {version}")


def _look_inside(wheel: Path, source: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    metadata = {top for top in tops if top.endswith(".dist-info")}
    _hold(len(metadata) == 1 and tops - metadata == {"shuffle_sym"}, f"the wheel holds {sorted(tops)}")
    for wanted in ("shuffle_sym/py.typed", "shuffle_sym/papers/su2025/evidence.json"):
        _hold(wanted in names, f"the wheel has no {wanted}")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "tests/conftest.py"):
        _hold(wanted in inside, f"the source archive has no {wanted}")
    stray = [name for name in inside if name.startswith((".venv", "docs/_build", "dist/"))]
    _hold(not stray, f"the source archive has {stray[:3]}")


def _install_and_ask(archive: Path, folder: Path, version: str) -> None:
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    _run(python, "-m", "pip", "install", "--quiet", str(archive))
    # From another folder, so that it is not the repository that is imported.
    _run(python, "-W", "error", "-c", _QUESTION.format(inside=str(folder), version=version), cwd=folder)
    command = "epsilon --randomizer krr --k 10 --eps0 4 --n 10000 --delta 1e-6"
    _run(str(folder / "bin" / "shuffle-sym"), *command.split(), cwd=folder)


def _hold(condition: bool, otherwise: str) -> None:
    if not condition:
        raise SystemExit(f"dist-check: {otherwise}")


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    _hold(done.returncode == 0, f"{' '.join(command)[:200]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
