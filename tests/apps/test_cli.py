"""The command line: answers against exact values, refusals in one line, the same defaults as Python."""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import math
import re
import shlex
import subprocess
import sys
import time
import tomllib
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import mpmath
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import latex, texts
from shuffle_sym.apps import catalogue, cli, commands
from shuffle_sym.apps.cli import parser

ROOT = Path(__file__).parent.parent.parent

# 2-RR with t = 3 and one user is the pair (3/4, 1/4), (1/4, 3/4): everything below is arithmetic with these fractions.
BIT = "--randomizer binaryrr --eps0 'log(3)'"
EXACT = {
    f"delta {BIT} --n 1 --eps 'log(2)'": Fraction(1, 4),
    f"delta {BIT} --n 1 --eps 'log(2)' --rounds 2": Fraction(7, 16),
    "compose --mechanism 'binaryrr eps0=log(3) n=1 rounds=2' --eps 'log(2)'": Fraction(7, 16),
    f"rdp {BIT} --n 1 --order 2": math.log(7 / 3),
    f"epsilon {BIT} --n 1 --delta 1/4": math.log(2),
    "calibrate --randomizer binaryrr --n 1 --eps 'log(2)' --delta 1/4": math.log(3),
    f"users {BIT} --eps 'log(3)' --delta 1e-6": 1,
    "delta --matrix '3/4 1/4; 0.25 0.75' --n 1 --eps 'log(2)'": Fraction(1, 4),
    # Two inputs: 2-RR.
    "delta --randomizer discretelaplace --k 2 --eps0 'log(3)' --n 1 --eps 'log(2)'": Fraction(1, 4),
    # By brute force over all neighbouring datasets, with ground_truth.worst_pair.
    "delta --randomizer krr --k 3 --eps0 'log(3)' --n 5 --eps 'log(6/5)'": Fraction(2552, 15625),
    "delta --randomizer krr --k 3 --eps0 'log(3)' --n 5 --eps 'log(6/5)' --method exact": Fraction(2552, 15625),
}

WRONG = {
    "": "command",
    "frob": "invalid choice",
    "epsilon": "see shuffle-sym epsilon --help",
    "epsilon --randomiser krr --k 10 --eps0 4 --n 10 --delta 0.1": "did you mean '--randomizer'?",
    "epsilon --randomizer kkr --k 10 --eps0 4 --n 10 --delta 0.1": "did you mean 'krr'?",
    "compose --mechanism 'krr k=10 eps0=4 n=10 round=3' --delta 0.1": "did you mean 'rounds'?",
    "derive lema52": "did you mean 'lemma52'?",
    "derive lemma99": "lists, got 'lemma99'\n",
    "epsilon --randomizer krr --k 10 --eps0 4 --n 10": "--delta",
    "epsilon --n 10 --delta 0.1": "randomizer must be given",
    "epsilon --randomizer nobody --n 10 --delta 0.1": "randomizer must be one of any, asymmetriclaplace, binaryrr",
    "epsilon --randomizer o --eps0 1 --n 10 --delta 0.1": "got 'o'; did you mean 'olh' or 'oue'?",
    "epsilon --randomizer kr --k 10 --eps0 4 --n 10 --delta 0.1": "got 'kr'; did you mean 'krr'?",
    "epsilon --randomizer Hadamard --K 8 --eps0 4 --n 10 --delta 0.1": "did you mean 'hadamardresponse'?",
    "epsilon --randomizer krr --eps0 4 --n 10 --delta 0.1": "k must be given: krr takes k, eps0",
    "epsilon --randomizer discretelaplace --eps0 4 --n 10 --delta 0.1": "k must be given: discretelaplace takes k",
    "epsilon --randomizer krr --k 1 --eps0 4 --n 10 --delta 0.1": "k must be an integer >= 2, got 1",
    "epsilon --randomizer krr --k 3 --d 4 --eps0 4 --n 10 --delta 0.1": "d is not a parameter of krr",
    "epsilon --randomizer krr --k 3 --eps0 four --n 10 --delta 0.1": "eps0 must be a number such as 4",
    "epsilon --randomizer krr --k 3 --eps0 -4 --n 10 --delta 0.1": "eps0 must be a number >= 0, got -4",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10.5 --delta 0.1": "n must be an integer >= 1",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10 --delta 2": "delta must be a number strictly between 0 and 1",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10 --delta 0.1 --rtol 0": "rtol must be",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10 --delta 0.1 --rounds 0": "must be an integer >= 1, got 0",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10 --delta 0.1 --rounds 2 --method fft": "method must be 'auto'",
    "epsilon --randomizer krr --k 3 --eps0 4 --n 10 --delt 0.1": "--delta",
    "epsilon --randomizer krr --matrix '1 0; 0 1' --n 10 --delta 0.1": "matrix must be given without",
    "epsilon --matrix '1 0; 0.5 0.4' --n 10 --delta 0.1": "must sum to 1",
    "explain --randomizer krr --k 3 --eps0 4 --n 10": "delta or eps must be given, one of the two",
    "explain --randomizer krr --k 3 --eps0 4 --n 10 --delta 0.1 --eps 1": "delta or eps must be given, one of the two",
    "explain --randomizer clones --eps0 4 --n 10 --delta 0.1": "which is one analysis itself",
    "explain --randomizer krr --k 3 --eps0 4 --n 10 --delta 7": "delta must be a number strictly between 0 and 1",
    "epsilon --randomizer any --n 10 --delta 0.1": "eps0 must be given: any takes eps0",
    "calibrate --randomizer gaussian --sigma 2 --n 10 --eps 1 --delta 0.1": "sigma is what is looked for",
    "calibrate --randomizer asymmetriclaplace --n 10 --eps 1 --delta 0.1": "must have an eps0 or a sigma",
    "calibrate --randomizer krr --k 3 --eps0 2 --n 10 --eps 1 --delta 0.1": "eps0 is what is looked for",
    "compose --mechanism 'clones eps0=1 n=10'": "eps or delta must be given",
    "compose --mechanism 'clones eps0=1' --eps 1": "mechanism must name the number of users",
    "compose --mechanism 'clones 1' --eps 1": "mechanism must look like",
    "rdp --randomizer binaryrr --eps0 1 --n 3 --order 1": "order must be a number > 1",
    "derive nothing": "name must be one that",
    "derive gparv_table": "randomizer must be given",
    "bench --repeat 0": "repeat must be an integer >= 1",
}


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(shlex.split(command))
    out, err = capsys.readouterr()
    return code, out, err


def ends_of(command: str) -> tuple[str, str]:
    return ("meets", "fails") if command.startswith("calibrate") else ("lower", "upper")


@pytest.mark.parametrize("command", EXACT)
def test_the_json_answer_brackets_the_exact_value(command, capsys):
    code, out, err = run(command + " --json", capsys)
    (row,) = json.loads(out)["rows"]
    assert code == 0
    assert err == ""
    # Exact for fractions; a logarithm as a double may be one unit off.
    exact = EXACT[command]
    slack = 1e-15 if isinstance(exact, float) else 0
    lower, upper = (row[end] for end in ends_of(command))
    assert lower <= exact + slack
    assert exact - slack <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("command", EXACT)
def test_the_table_is_rounded_outward(command, capsys):
    code, out, _ = run(command, capsys)
    title, head, row, *_ = out.splitlines()
    cells = dict(zip(head.split(), re.split(r"  +", row.strip()), strict=False))
    exact = EXACT[command]
    slack = Fraction(1, 10**15) if isinstance(exact, float) else 0
    assert code == 0
    assert title
    lower, upper = (cells[end] for end in ends_of(command))
    assert Fraction(lower) <= Fraction(exact) + slack
    assert Fraction(exact) - slack <= Fraction(upper)


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_input_is_one_line_and_code_2(command, capsys):
    code, out, err = run(command, capsys)
    assert code == 2
    assert out == ""
    assert WRONG[command] in err
    assert err.startswith("shuffle-sym: ")
    assert err.count("\n") == 1


EXAMPLES = [f"{name} {example}" for name, given in cli.EXAMPLES.items() if name != "audit" for example in given]


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_example_of_the_help_gives_an_answer(command, capsys):
    code, out, err = run(command, capsys)
    assert (code, err) == (0, "")
    assert out.strip()


@pytest.mark.parametrize("command", ["", *cli.EXAMPLES])
def test_the_help_shows_examples(command, capsys):
    code, out, _ = run(f"{command} --help", capsys)
    assert code == 0
    assert "examples:\n  shuffle-sym " in out


def test_an_upper_end_above_the_one_allowed_is_code_1(capsys):
    asked = f"delta {BIT} --n 1 --eps 'log(2)' --at-most"  # exactly 1/4
    assert run(f"{asked} 0.3", capsys)[0] == 0
    code, out, err = run(f"{asked} 0.2", capsys)
    assert (code, err) == (1, "")
    assert "at most 0.2: NO" in out
    assert json.loads(run(f"{asked} 0.2 --json", capsys)[1])["ok"] is False


def test_several_values_are_rows(capsys):
    rows = json.loads(run(f"delta {BIT} --n 1 2 --eps 0 'log(2)' --json", capsys)[1])["rows"]
    assert [(row["n"], row["eps"]) for row in rows] == [(1, "0"), (1, "log(2)"), (2, "0"), (2, "log(2)")]
    for row in rows:
        exact = ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), row["n"]).exact(sp.exp(texts.read(row["eps"], "eps")))
        assert row["lower"] <= Fraction(int(exact.p), int(exact.q)) <= row["upper"]


def test_the_answer_is_that_of_the_python_call(capsys):
    row = json.loads(run("epsilon --randomizer krr --k 10 --eps0 4 --n 10000 --delta 1e-6 --json", capsys)[1])["rows"]
    found = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000).epsilon(1e-6)
    assert [(r["lower"], r["upper"]) for r in row] == [(found.lower, found.upper)]


def test_an_answer_says_what_its_ends_come_from(capsys):
    asked = "epsilon --randomizer blh --d 16 --eps0 4 --n 10000 --delta 1e-6"
    (row,) = json.loads(run(f"{asked} --json", capsys)[1])["rows"]
    assert row["upper_by"].startswith("drop-out")
    assert row["lower_by"] == "0 against 1, all others 0"
    _, head, shown, *_ = run(asked, capsys)[1].splitlines()
    assert head.split()[-2:] == ["upper_by", "lower_by"]
    assert shown.endswith(row["lower_by"])


def test_calibrate_and_users_say_what_their_ends_come_from(capsys):
    target = "--eps 0.4 --delta 1e-6"
    (row,) = json.loads(run(f"calibrate --randomizer binaryrr --n 10000 {target} --json", capsys)[1])["rows"]
    assert row["meets"] < row["fails"]
    assert row["meets_by"].startswith("drop-out")
    assert row["fails_by"] == "0 against 1, all others 0"
    assert not {"lower", "upper", "lower_by", "upper_by"} & set(row)
    (row,) = json.loads(run(f"users --randomizer binaryrr --eps0 4 {target} --json", capsys)[1])["rows"]
    assert row["lower_by"] == "0 against 1, all others 0"
    assert row["upper_by"].startswith("drop-out")  # the end that meets the target


def test_the_sigma_that_is_recommended_meets_the_target_and_the_other_end_misses_it(capsys):
    def delta(sigma):  # of one user at ε = 1
        mp = mpmath.MPContext()
        return mp.ncdf(1 / (2 * mp.mpf(sigma)) - sigma) - mp.e * mp.ncdf(-1 / (2 * mp.mpf(sigma)) - sigma)

    asked = "calibrate --randomizer gaussian --n 1 --eps 1 --delta 1/8 --rtol 0.1 --json"
    (row,) = json.loads(run(asked, capsys)[1])["rows"]
    assert delta(row["meets"]) <= 1 / 8 < delta(row["fails"])
    assert row["meets"] < 1.2 * row["fails"]


def test_somebody_who_waits_sees_that_work_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def work(given):
        end = time.monotonic() + 60  # on a busy machine a second may be long
        while not sys.stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        return commands.Answer("done")

    given = SimpleNamespace(run=work, json=False, csv=False)
    monkeypatch.setattr(
        cli,
        "parser",
        lambda: SimpleNamespace(parse_args=lambda argv: given),
    )
    assert cli.main([]) == 0
    shown = capsys.readouterr()
    assert "still at work" in shown.err
    assert "done" in shown.out


def test_rounds_and_decompositions_leave_the_columns_open(capsys):
    rows = json.loads(run("epsilon --randomizer clones --eps0 1 --n 100 --delta 1e-3 --json", capsys)[1])["rows"]
    assert (rows[0]["upper_by"], rows[0]["lower_by"]) == (None, None)
    assert "upper_by" not in run("epsilon --randomizer clones --eps0 1 --n 100 --delta 1e-3", capsys)[1]
    assert "upper_by" in run(f"epsilon {BIT} --n 3 --delta 1e-3 --rounds 3 1", capsys)[1]


def test_explain_lists_every_analysis(capsys):
    asked = "explain --randomizer krr --k 10 --eps0 4 --n 10000 --delta 1e-6"
    found = ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000).analyses(delta=1e-6)
    code, out, err = run(asked, capsys)
    assert (code, err) == (0, "")
    assert out.startswith(f"{found}\n")
    rows = json.loads(run(f"{asked} --json", capsys)[1])["rows"]
    assert [(row["name"], row["kind"], row["value"]) for row in rows] == [(r.name, r.kind, r.value) for r in found.rows]
    assert all((row["value"] is None) == bool(row["refusal"]) for row in rows)


def test_the_defaults_are_those_of_the_python_calls():
    given = parser().parse_args(shlex.split("delta --randomizer krr --k 2 --eps0 1 --n 1 --eps 1"))
    for name in ("rtol", "method"):
        assert getattr(given, name) == str(inspect.signature(ss.Shuffle.delta).parameters[name].default)
    for command in (ss.calibrate, ss.users_needed):
        assert str(inspect.signature(command).parameters["rtol"].default) == given.rtol


def test_every_randomizer_that_takes_numbers_can_be_named():
    known = {maker for maker in catalogue.makers().values()}
    named = {getattr(ss, name) for name in ss.__all__ if inspect.isclass(getattr(ss, name))}
    of_others = {ss.Joint, ss.Parallel, ss.Sampled}  # which take randomizers
    wanted = {c for c in named if issubclass(c, ss.Randomizer) and not inspect.isabstract(c)} - of_others
    no_symbols = {ss.randomizers.DiscreteLaplace, ss.randomizers.TruncatedLaplace}
    assert wanted | {ss.Laplace, ss.Gaussian} | no_symbols <= known
    assert ss.decomposition.clones_one_sided not in known, "it holds in one direction only"


def test_the_number_of_rounds_is_a_number(capsys):
    row = json.loads(run(f"delta {BIT} --n 1 --eps 0 --rounds 2 --json", capsys)[1])["rows"]
    assert row[0]["rounds"] == 2


def test_the_list_of_derivations_has_no_markup(capsys):
    listed = run("derive", capsys)[1]
    assert ":math:" not in listed
    assert "\\" not in listed, "a formula that is still LaTeX"


def test_a_derivation_says_what_is_proved(capsys):
    rows = json.loads(run("derive lemma52 --json", capsys)[1])["rows"]
    lines = list(ss.derivations.lemma52())
    assert [row["says"] for row in rows] == [latex.in_text(line.formula) for line in lines]
    assert {row["status"].split()[0] for row in rows} <= {"given", "suppose", "lemma", "proved", "by", "checked"}
    assert "\\begin{align}" in run("derive lemma52 --latex", capsys)[1]


def test_a_check_that_fails_is_code_1_in_one_line(capsys, monkeypatch):
    def fails():
        raise ss.VerificationError("lemma: 1 against\n2")

    monkeypatch.setitem(ss.derivations.ALL, "lemma52", fails)
    assert run("derive lemma52", capsys) == (1, "", "shuffle-sym: lemma: 1 against 2\n")


@pytest.mark.parametrize(("changed", "code"), [({}, 0), ({"X-1": ("holds", "false")}, 1)])
def test_a_verdict_that_changed_is_code_1(changed, code, capsys, monkeypatch):
    class Audit(list):
        counts = MappingProxyType({"holds": 0, "false": 1})

        def changed(self):
            return changed

    result = SimpleNamespace(id="X-1", verdict="false", claim=SimpleNamespace(statement="one is two"))
    module = SimpleNamespace(run=lambda ids, quick, progress: Audit([result]))
    monkeypatch.setitem(sys.modules, "shuffle_sym.papers.audit", module)
    found, out, err = run("audit X-1 --quick", capsys)
    assert (found, err) == (code, "")
    assert "X-1  false    one is two" in out
    assert ("CHANGED X-1: recorded holds, now false" in out) == bool(changed)


def test_numbers_are_read_exactly_and_nothing_else_is_evaluated():
    assert texts.read("0.1", "x") == sp.Rational(1, 10)
    assert texts.read("3*log(2)/2", "x") == 3 * sp.log(2) / 2
    assert texts.read("1e-300", "x") == sp.Rational(1, 10**300)
    assert texts.read("2**10 - -sqrt(4)", "x") == 1026
    bad = ["", "x", "1e-999", "1e999", "9**9**9", "__import__('os')", "(1).real", "True", "'1'", "1/0", "sqrt(-1)",
           "log(2, 3)", "[1]", "1 if 1 else 2", "2**log(2)", "0*oo"]  # fmt: skip
    for text in bad:
        with pytest.raises(ValueError, match="x must be a number such as"):
            texts.read(text, "x")


def test_the_entry_point_names_a_function():
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["shuffle-sym"]
    module, name = target.split(":")
    assert getattr(importlib.import_module(module), name) is cli.main


def test_it_runs_as_a_module_without_plotting_or_notebooks():
    code = "import sys; from shuffle_sym.apps.cli import main; main(sys.argv[1:]); print('matplotlib' in sys.modules)"
    command = shlex.split(f"delta {BIT} --n 1 --eps 'log(2)' --json")
    seen = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines()[-1] == "False"
    done = subprocess.run([sys.executable, "-m", "shuffle_sym", *command], capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)["rows"]
    assert row["lower"] <= Fraction(1, 4) <= row["upper"]
    refused = subprocess.run([sys.executable, "-m", "shuffle_sym", "x"], capture_output=True, text=True, check=False)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)


def test_csv_has_the_rows_and_digits_of_json(capsys):
    command = "epsilon --randomizer clones --eps0 1 --n 100 1000 --delta 1e-6"
    _, table, _ = run(f"{command} --csv", capsys)
    _, whole, _ = run(f"{command} --json", capsys)
    rows = json.loads(whole)["rows"]
    read = list(csv.DictReader(io.StringIO(table)))
    assert [(row["n"], float(row["lower"]), float(row["upper"])) for row in read] == [
        (str(row["n"]), row["lower"], row["upper"]) for row in rows
    ]


def test_explain_says_in_words_what_to_report(capsys):
    _, out, _ = run("explain --randomizer krr --k 10 --eps0 4 --n 10000 --delta 1e-6", capsys)
    words = out.splitlines()[-1]
    assert "Report 0.380617" in words
    assert "one user's input (by blanket)" in words
    assert "0.380296: two such datasets attain it (0 against 1, all others 2)" in words


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("shuffle-sym eps", "epsilon"),
        ("shuffle-sym epsilon --del", "--delta"),
        ("shuffle-sym rdp --randomizer kr", "krr"),
    ],
)
def test_bash_completes_words(typed, wanted, capsys):
    _, script, _ = run("completion bash", capsys)
    words = typed.split()
    ask = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shuffle_sym; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert wanted in done.stdout.split()
