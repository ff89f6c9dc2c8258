"""Nothing is imported before somebody asks for it, and whatever is asked for first is there."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import shuffle_sym as ss
from shuffle_sym.papers import FOLDERS

ROOMS = {"algebra", "model", "randomizers", "numeric", "truth", "accounting", "papers", "protocols", "apps"}
HEAVY = ("sympy", "scipy", "flint", "mpmath", "numpy", "tqdm", "matplotlib", "ipywidgets", "shuffle_sym.papers")
FIRST_ANSWER = "import shuffle_sym as ss; ss.Shuffle(ss.KRR(10, 4), 10_000).epsilon(1e-6)"


def fresh(code: str, *arguments: str) -> str:
    """What a new process prints."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def imported(code: str, *modules: str) -> list[str]:
    """Which of the modules a new process has imported after this code."""
    show = f"\nimport sys\nprint('\\n' + ' '.join(m for m in {modules} if m in sys.modules))"
    return fresh(code + show).splitlines()[-1].split()


def test_importing_the_package_imports_nothing_else():
    assert imported("import shuffle_sym", *HEAVY) == []


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_command_line_introduces_itself_without_importing_anything(option):
    assert imported(f"from shuffle_sym.apps.cli import main; main(['{option}'])", *HEAVY) == []


def test_the_first_answer_needs_no_papers_no_progress_bar_and_no_special_functions():
    heavy = ("shuffle_sym.papers", "tqdm", "matplotlib", "ipywidgets", "scipy.special", "scipy.stats", "pandas")
    assert imported(FIRST_ANSWER, *heavy) == []
    assert "sympy" in imported(FIRST_ANSWER, "sympy")  # what is asked is asked of the right process


def test_a_protocol_evaluates_closed_forms_without_importing_a_derivation():
    code = "import shuffle_sym as ss; ss.protocols.Histogram(3, '1/4'), ss.protocols.smallest_gamma(3, 10**6, 1, 1e-6)"
    assert imported(code, "shuffle_sym.papers.engine", "shuffle_sym.papers.balle2019.protocols") == []


def test_the_table_of_all_analyses_has_those_of_the_papers_though_nobody_imported_them():
    code = "import shuffle_sym as ss; print(ss.Shuffle(ss.BinaryRR(eps0=1), n=500).analyses(delta=1e-6))"
    shown = fresh(code)
    assert all(name in shown for name in ("blanket", "Erlingsson", "clones", "Girgis, expectation", "shared clones"))


# Each name is the first that a process asks for: one that has imported the dependencies alone, and forks.
ASK = """
import os, random, sys
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # Python warns of a fork beside threads
import sympy, scipy.special, flint, numpy
names = sys.argv[1:]
random.shuffle(names)
for name in names:
    child = os.fork()
    if not child:
        try:
            import shuffle_sym as ss
            value = ss
            for part in name.split("."):
                value = getattr(value, part)
            if type(value) is type(ss):
                assert all(hasattr(value, key) for key in getattr(value, "__all__", ())), name
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork makes a fresh process in milliseconds")
def test_every_name_can_be_the_first_that_is_asked_for():
    papers = [f"papers.{folder}" for folder in FOLDERS]
    forms = ["papers.koskela2021.lemma11", "bounds.balle2019_thm53", "derivations.lemma52", "papers.ours.drop_out"]
    modules = ["accounting.budget", "truth.two_messages", "numeric.contour", "algebra.field", "model.continuous"]
    fresh(ASK, *ss.__all__, *ROOMS, *papers, *forms, *modules)


@pytest.mark.parametrize("view", ["bounds", "derivations", "papers", "papers.koskela2021", "accounting", "apps"])
def test_a_list_of_names_is_complete_when_it_is_the_first_thing_asked_for(view):
    here = ss
    for part in view.split("."):
        here = getattr(here, part)
    asked_first = fresh(f"import shuffle_sym as ss; print(*dir(ss.{view}), sep='\\n')").split()
    assert asked_first == dir(here)
    assert len(asked_first) >= 5


def test_the_package_lists_its_names_and_its_rooms_and_nothing_else():
    assert dir(ss) == sorted({*ss.__all__, *ROOMS})
    there: dict[str, object] = {}
    exec("from shuffle_sym import *", there)
    assert set(ss.__all__) <= set(there)


def test_type_checkers_read_the_names_that_are_there():
    tree = ast.parse(Path(str(ss.__file__)).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    declared = {alias.asname: node.module for node in block.body for alias in node.names}
    assert declared == ss._HOMES | dict.fromkeys(ROOMS, "shuffle_sym")


def test_a_name_that_is_not_there_is_an_attribute_error_that_names_a_near_one():
    with pytest.raises(AttributeError, match=r"module 'shuffle_sym' has no attribute 'nonsense'$"):
        ss.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'Shufle'; did you mean 'Shuffle'\?$"):
        ss.Shufle  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'shuffle_sym\.apps' has no attribute 'numbers'$"):
        ss.apps.numbers  # noqa: B018
    assert not hasattr(ss.papers.su2025, "lemma99")


def test_what_a_module_misses_is_not_taken_for_a_name_that_is_missing():
    code = """
import sys
sys.modules["matplotlib"] = None
import shuffle_sym as ss
try:
    ss.apps.plots
except ImportError as refusal:
    print(refusal.name)
"""
    assert fresh(code).startswith("matplotlib")


def test_threads_may_ask_for_names_at_the_same_time():
    code = """
import sys, threading
import shuffle_sym as ss
names, wrong, start = [*ss.__all__, "papers", "accounting", "protocols", "apps"], [], threading.Barrier(12)
def ask(first):
    start.wait()
    for name in names[first:] + names[:first]:
        try:
            getattr(ss, name)
        except BaseException as error:
            wrong.append((name, error))
threads = [threading.Thread(target=ask, args=(3 * i,)) for i in range(12)]
[t.start() for t in threads], [t.join() for t in threads]
assert not wrong, wrong
"""
    fresh(code)


# An interrupt at the first return of a function, or of a whole file, while the first questions import what they need.
INTERRUPTED = """
import os, signal, sys
import shuffle_sym as ss
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(frame, event, _):
    if event == "return" and (os.path.split(frame.f_code.co_filename)[1], frame.f_code.co_name) == tuple(sys.argv[1:]):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
def ask():
    rows = ss.sweep(lambda n: ss.Shuffle(ss.KRR(3, 1), n).delta(1), {"n": [9]}, progress=False)
    table = ss.Shuffle(ss.KRR(3, 1), 9).analyses(eps=1)
    return len(rows), ss.papers.balle2019.lemma53().name, "shared clones" in str(table)
try:
    sys.setprofile(interrupt)
    ask()
except KeyboardInterrupt:
    print("interrupted, then", *ask())
"""


@pytest.mark.parametrize(
    ("file", "function"),
    [("rings.py", "<module>"), ("dataclasses.py", "__set_name__"), ("events.py", "<module>"), ("analyses.py", "add")],
    ids=["SymPy", "a class", "what tqdm imports", "a table"],
)
def test_an_interrupt_while_something_is_imported_comes_out_and_spoils_no_later_question(file, function):
    assert fresh(INTERRUPTED, file, function) == "interrupted, then 1 lemma53 True\n"


def test_no_module_of_ours_imports_by_the_names_of_the_package():
    # A thread that waits for these names while it imports a module could wait for a thread that waits for the module.
    package = Path(str(ss.__file__)).parent
    for path in set(package.rglob("*.py")) - {package / "__init__.py"}:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        assert not [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == "shuffle_sym"], path


def test_another_process_reads_a_pickle_without_having_imported_anything():
    sent = pickle.dumps((ss.Shuffle(ss.KRR(k=3, eps0=1), 30), ss.bounds.balle2019_hoeffding, ss.sweep))
    assert "KRR(k=3, eps0=1), n=30), shuffle_sym.papers.balle2019.hoeffding" in fresh(
        f"import pickle; print(pickle.loads({sent!r}))"
    )
