r"""The options of each command, by its name; `parser` adds them when the command is used."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from typing import Any

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.sources import METHODS
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.cli import commands
from shuffle_sym.apps.cli import completion as completions
from shuffle_sym.apps.cli.answers import Answer
from shuffle_sym.apps.cli.parser import parser

_RTOL = str(inspect.signature(Shuffle.delta).parameters["rtol"].default)


def epsilon(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.epsilon)
    _several(asked, "--delta", "failure probability")
    _one_round_or_more(asked)


def delta(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.delta)
    _several(asked, "--eps", "central epsilon")
    _one_round_or_more(asked)


def explain(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.explain)
    _randomizer(asked)
    asked.add_argument("--n", required=True, help="number of users")
    asked.add_argument("--delta", help="failure probability: asks for epsilon")
    asked.add_argument("--eps", help="central epsilon: asks for delta")
    _rtol(asked)


def calibrate(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.calibrated)
    _randomizer(asked, matrix=False, required=True)
    _several(asked, "--n", "number of users")
    _target(asked)


def users(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.users)
    _randomizer(asked)
    _target(asked)


def compose(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.compose)
    form = "such as 'krr k=10 eps0=4 n=10000 rounds=100'; may be given several times"
    asked.add_argument("--mechanism", action="append", required=True, metavar="TEXT", help=form)
    _several(asked, "--delta", "failure probability: asks for epsilon", required=False)
    _several(asked, "--eps", "central epsilon: asks for delta", required=False)
    _rtol(asked)


def rdp(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.rdp)
    _randomizer(asked)
    _several(asked, "--n", "number of users")
    _several(asked, "--order", "order of the divergence")
    _rtol(asked)


def derive(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.derive)
    asked.add_argument("name", nargs="?", help="name of the derivation")
    asked.add_argument("--latex", action="store_true", help="as an align environment for a paper")
    _randomizer(asked, matrix=False)


def audit(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.audit)
    asked.add_argument("ids", nargs="*", help="claims to examine; all if none is named")
    asked.add_argument("--quick", action="store_true", help="leave out the slow ones")


def bench(asked: ArgumentParser) -> None:
    asked.set_defaults(run=commands.bench)
    _randomizer(asked)
    _several(asked, "--n", "number of users", required=False, default=["10000", "1000000", "1000000000"])
    asked.add_argument("--delta", default="1e-6", help="default %(default)s")
    asked.add_argument("--repeat", default="11", help="default %(default)s")


def completion(asked: ArgumentParser) -> None:
    asked.set_defaults(run=lambda given: Answer("", text=completions.script(parser(), given.shell)))
    asked.add_argument("shell", choices=completions.SHELLS, help='for the start-up file of your shell: eval "$(…)"')


def _several(asked: ArgumentParser, name: str, about: str, *, required: bool = True, default: Any = None) -> None:
    asked.add_argument(name, nargs="+", required=required, default=default, help=f"{about}; one or more")


def _randomizer(asked: ArgumentParser, *, matrix: bool = True, required: bool = False) -> None:
    group = asked.add_argument_group("randomizer", "Numbers are read exactly: 4, 0.1, 1/3, 1e-6, log(3).")
    named = ", ".join(f"{name}({', '.join(catalogue.parameters(make))})" for name, make in catalogue.makers().items())
    group.add_argument("--randomizer", required=required, metavar="NAME", help=named)
    for parameter in catalogue.all_parameters():
        group.add_argument(f"--{parameter}", metavar="NUMBER")
    if matrix:
        group.add_argument("--matrix", metavar="ROWS", help="a randomizer of your own: '0.7 0.3; 0.2 0.8'")


def _one_round_or_more(asked: ArgumentParser) -> None:
    _randomizer(asked)
    asked.add_argument("--q", metavar="NUMBER", help="probability that a user takes part, default 1")
    _several(asked, "--n", "number of users")
    _several(asked, "--rounds", "number of rounds, default 1", required=False, default=["1"])
    asked.add_argument("--method", choices=METHODS, default="auto", help="method for one round; default %(default)s")
    asked.add_argument("--at-most", metavar="NUMBER", help="exit with code 1 if an upper end is larger")
    _rtol(asked)


def _target(asked: ArgumentParser) -> None:
    _several(asked, "--eps", "central epsilon")
    _several(asked, "--delta", "failure probability")
    _rtol(asked)


def _rtol(asked: ArgumentParser) -> None:
    asked.add_argument("--rtol", default=_RTOL, help="relative tolerance of each end, default %(default)s")
