"""The mutator makes the changes that it says, and the list of known survivors is about lines that exist."""

from __future__ import annotations

import ast
import math
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from checks import mutants
from shuffle_sym.numeric import tilting

COIN = np.zeros(2), np.full(2, 0.5)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", ["a > b", "a <= b"]),
        ("x = n - 1", ["n + 1", "n", "-1", "n - 2"]),
        ("x = -y", ["y"]),
        ("x = y * (1 + e)", ["y", "1 - e", "1", "e"]),
        ("x = math.ceil(y)", ["math.floor"]),
        ("x = answer.upper", ["answer.lower"]),
        ("x = 8 * UNIT_ROUNDOFF", ["0.0"]),
        ("x += y", ["-(y)", "0 * (y)"]),
        ("raise ValueError(1 + 2)", []),
        ('x = f"{a - b}" + "text"', []),
        ("def f(x: int = 1 + 2) -> None: ...", []),
        ('def main(): return 1 + 2\nif __name__ == "__main__": main()', []),
    ],
)
def test_every_kind_of_change_is_made(source, changed):
    found = mutants.mutants_of("x.py", source)
    assert [mutant.after for mutant in found] == changed
    for mutant in found:
        ast.parse(mutant.applied(source.encode()))


def test_mutants_are_spread_over_the_rooms_and_the_same_for_a_seed():
    some = mutants.chosen([], 60, 7)
    assert [sum(f"/{room}/" in mutant.file for mutant in some) for room in mutants.ROOMS] == [20, 20, 20]
    one = ["numeric/contour"]
    assert {mutant.file for mutant in mutants.chosen(one, 5, 7)} == {"shuffle_sym/numeric/contour.py"}
    assert mutants.chosen(one, 5, 7) == mutants.chosen(one, 9, 7)[:5] != mutants.chosen(one, 5, 8)


def test_a_mutant_is_the_loaded_package_with_one_function_changed():
    (changed,) = [m for m in mutants.chosen(["numeric/tilting"], 10**6, 0) if m.after.startswith("top - np.log")]

    def run(answer):
        mutants._patch(changed)
        answer(float(tilting.log_mgf(*COIN, 1.0)))

    assert mutants._in_child(run, 20.0) == pytest.approx(-2 * math.log(2))
    assert float(tilting.log_mgf(*COIN, 1.0)) == pytest.approx(0.0)


def test_a_mutant_that_does_not_end_is_ended():
    def run(answer):
        while True:
            pass

    assert mutants._in_child(run, 0.1) is None


def test_survivors_that_are_known_are_about_lines_that_exist():
    for entry in tomllib.loads(mutants.KNOWN.read_text())["survivor"]:
        made = {m.after for m in mutants.mutants_of("x", (mutants.ROOT / entry["file"]).read_text())
                if m.text == entry["line"]}  # fmt: skip
        assert set(entry["after"]) <= made, entry
        assert entry["reason"]


@pytest.mark.parametrize(("also", "verdict"), [("notices", ("killed", "notices")), ("passes", ("survived", "1 tests"))])
def test_a_test_that_fails_without_any_change_notices_no_mutant(also, verdict, capsys):
    def failed(name):
        return name == "broken" or (name == "notices" and tilting.log_mgf(*COIN, 1.0) < -1)

    def protocol(item, nextitem):
        runner.noticing.failed = runner.noticing.failed or (item.name if failed(item.name) else "")

    (changed,) = [m for m in mutants.chosen(["numeric/tilting"], 10**6, 0) if m.after.startswith("top - np.log")]
    runner = mutants.Runner(lambda _: None)
    config = SimpleNamespace(hook=SimpleNamespace(pytest_runtest_protocol=protocol))
    runner.items = {name: SimpleNamespace(name=name, config=config) for name in ("broken", also)}
    assert runner.result(changed, ["broken", also], 5.0, False) == verdict
    assert "fails without any change: broken" in capsys.readouterr().out
