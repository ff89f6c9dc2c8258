"""Wrong arguments raise before any work, and the message names the argument, the value and what is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import StatedMechanism as Stated
from shuffle_sym.algebra.arguments import exact_number
from shuffle_sym.papers.koskela2021 import definitions
from shuffle_sym.papers.tools import krr
from shuffle_sym.randomizers import BlockHadamard
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.two_messages import TwoMessages

R3 = ss.KRR(k=3, eps0=sp.log(3))
M = ss.Shuffle(R3, 4)
D = ss.decomposition.blanket(R3)
q = sp.Rational
erlingsson, theorem31 = ss.bounds.erlingsson2019_shuffling, ss.bounds.balle2019_thm31
half = q(1, 2)
P2 = [[half, half], [q(1, 4), q(3, 4)]]
CROWD = ss.Shuffle([(R3, 2), (ss.KRR(k=3, eps0=sp.log(2)), 2)])

PLD = ss.accounting.PairPLD([half, half], [q(1, 4), q(3, 4)])
accountant = ss.FourierAccountant(PLD)

lopsided = ss.decomposition.blanket(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 0, 1)
profile = M.profile(rtol=0.05)

BAD = {
    # call: (exception, words that the message must contain)
    "sampled, q = 0": (lambda: ss.Sampled(R3, 0), ValueError, ["q must be a number in (0, 1]", "got 0"]),
    "sampled, q = 1.5": (lambda: ss.Sampled(R3, 1.5), ValueError, ["q must be a number in (0, 1]", "1.5"]),
    "sampled, q any symbol": (
        lambda: ss.Sampled(R3, sp.Symbol("q")),
        ValueError,
        ["q must be known", "parameter", "q"],
    ),
    "sampled decomposition": (
        lambda: ss.Sampled(ss.decomposition.blanket(ss.Laplace(eps0=1)), 0.5),
        TypeError,
        ["R must be one randomizer", "NoiseBlanket(Laplace"],
    ),
    "a batch of all and more": (lambda: M.sampled_from(3), ValueError, ["n must be at least 4", "batch", "3"]),
    "a batch of a decomposition": (lambda: ss.Shuffle(D, 4).sampled_from(9), TypeError, ["one randomizer", "n=4"]),
    "all collude": (lambda: M.without(4), ValueError, ["m must be below n = 4", "4"]),
    "some of several collude": (lambda: M.without([0, 7]), ValueError, ["m must be below n = 4", "7"]),
    "minus one colludes": (lambda: M.without(-1), ValueError, ["m must be an integer >= 0", "-1"]),
    "a batch loses a user": (lambda: M.sampled_from(9).without(1), TypeError, ["without(m)", "sampled_from(9)"]),
    "a batch to digits": (
        lambda: M.sampled_from(5).delta(0.1, digits=9),
        ValueError,
        ["e^eps must be a rational number", "exp(1/10)"],
    ),
    "analyses of a batch": (lambda: M.sampled_from(5).analyses(eps=1), TypeError, ["who are all shuffled"]),
    "groups, other messages": (
        lambda: ss.Shuffle([(R3, 2), (ss.KRR(k=4, eps0=1), 2)]),
        ValueError,
        ["one message space", "groups[1]", "KRR(k=4", "from_matrix(P, messages="],
    ),
    "groups, names of messages": (
        lambda: ss.Shuffle([(ss.from_matrix(P2, messages="ab"), 1), (ss.from_matrix(P2, messages="bc"), 1)]),
        ValueError,
        ["one message space", "messages=['b', 'c']"],
    ),
    "names of messages": (
        lambda: ss.from_matrix(P2, messages=["a", "a"]),
        ValueError,
        ["messages must have 2 different names", "'a'"],
    ),
    "groups, none": (lambda: ss.Shuffle([]), ValueError, ["groups must not be empty"]),
    "groups and n": (lambda: ss.Shuffle([(R3, 2)], n=2), ValueError, ["n must be left out", "n = 2"]),
    "groups of noise": (lambda: ss.Shuffle([(ss.Laplace(eps0=1), 2)]), TypeError, ["groups[0]", "finitely many"]),
    "groups, no users": (lambda: ss.Shuffle([(R3, 0)]), ValueError, ["the users of groups[0]", ">= 1", "0"]),
    "no pair": (lambda: ss.Shuffle([R3]), TypeError, ["groups[0] must be a pair", "KRR"]),
    "group of one": (lambda: M.group(0), TypeError, ["Shuffle([(R1, n1), (R2, n2), …])"]),
    "no such group": (lambda: CROWD.group(2), ValueError, ["i must be an integer in 0 … 1", "2"]),
    "colluders of no group": (lambda: CROWD.without(1), ValueError, ["each of the 2 groups", "(10, 0)", "1"]),
    "more colluders than users": (lambda: CROWD.without((3, 0)), ValueError, ["m[0] must be at most 2", "3"]),
    "all groups collude": (lambda: CROWD.without((2, 2)), ValueError, ["leave at least one user", "(2, 2)"]),
    "a batch of groups": (lambda: CROWD.sampled_from(9), TypeError, ["users with one randomizer"]),
    "too many users in groups": (
        lambda: ss.Shuffle([(R3, 20), (ss.KRR(k=3, eps0=0), 20)]).exact(2),
        ValueError,
        ["40 users", "fewer users"],
    ),
    "groups, irrational": (
        lambda: ss.Shuffle([(R3, 2), (ss.KRR(k=3, eps0=1), 2)]).exact(2),
        ValueError,
        ["rational probabilities", "KRR(k=3, eps0=1)"],
    ),
    "a long number": (lambda: M.epsilon(q(1, 10**400)), ValueError, ["delta must be at least 1e-300", "about 1.0"]),
    "compose, rounds = 0": (lambda: M.compose(0), ValueError, ["rounds must be an integer >= 1", "got 0"]),
    "compose, rounds = 1.5": (lambda: M.compose(1.5), ValueError, ["rounds must be an integer >= 1", "1.5"]),
    "compose, rounds = text": (lambda: M.compose("many"), ValueError, ["rounds", "1/3", "'many'"]),
    "compose nothing": (lambda: ss.compose([]), ValueError, ["parts must not be empty"]),
    "compose a number": (lambda: ss.compose(3), TypeError, ["parts must be a list", "3"]),
    "compose numbers": (lambda: ss.compose([3]), TypeError, ["parts must hold Shuffle", "3"]),
    "compose two relations": (
        lambda: ss.compose([M, ss.Shuffle(lopsided, 4)]),
        ValueError,
        ["one neighbouring relation", "x0 against x1 only"],
    ),
    "compose, max_points": (lambda: M.compose(2, max_points=0), ValueError, ["max_points", "0"]),
    "composed delta, eps < 0": (lambda: M.compose(2).delta(-1), ValueError, ["eps must be a number >= 0", "-1"]),
    "composed epsilon, delta = 0": (lambda: M.compose(2).epsilon(0), ValueError, ["delta", "between 0 and 1", "0"]),
    "composed epsilon, tiny delta": (
        lambda: M.compose(2).epsilon(1e-290),
        ValueError,
        ["delta must be at least 1e-250", "1e-290"],
    ),
    "profile, rtol": (lambda: M.profile(rtol=0), ValueError, ["rtol", "between 0 and 1", "0"]),
    "profile, least_delta": (lambda: M.profile(least_delta=2), ValueError, ["least_delta", "between 0 and 1", "2"]),
    "profile, eps = text": (lambda: profile.delta("x"), ValueError, ["eps must be a number", "'x'"]),
    "profile, eps symbolic": (lambda: profile.delta(sp.Symbol("e")), ValueError, ["eps must be a number", "e"]),
    "profile, side": (lambda: profile.as_pld("middle"), ValueError, ["side", "'upper'", "'middle'"]),
    "trade-off, type_1 = 2": (lambda: profile.trade_off()(2), ValueError, ["type_1", "[0, 1]", "2"]),
    "rdp, order = 1": (lambda: M.rdp(1), ValueError, ["order must be a number > 1", "1"]),
    "rdp, unbounded": (
        lambda: ss.Shuffle(ss.Gaussian(sigma=1), 9).rdp(2),
        ValueError,
        ["order = 2", "unbounded loss"],
    ),
    "profile from other JSON": (
        lambda: ss.accounting.PrivacyProfile.from_json("{}"),
        ValueError,
        ["text must be JSON", "'{}'"],
    ),
    "dp_accounting, grid": (lambda: PLD.to_dp_accounting(0), ValueError, ["value_discretization_interval", "0"]),
    "dp_accounting, too fine": (lambda: PLD.to_dp_accounting(1e-12), ValueError, ["value_discretization_interval"]),
    "weak of OUE": (lambda: ss.decomposition.weak(ss.OUE(d=3, eps0=1)), ValueError, ["R must be k-ary", "blanket(R)"]),
    "clones, eps0 = -1": (lambda: ss.decomposition.clones(-1), ValueError, ["eps0 must be a number >= 0", "-1"]),
    "clones_koskela, eps0 = text": (lambda: ss.decomposition.clones_koskela("t"), ValueError, ["eps0", "'t'"]),
    "strong of a matrix": (lambda: ss.decomposition.strong([[1, 0]]), TypeError, ["R must be one randomizer"]),
    "bound, n = 1": (
        lambda: theorem31(krr(4, half), 1, 0.1),
        ValueError,
        ["n must be at least 2", "1"],
    ),
    "bound, delta": (
        lambda: theorem31(krr(4, half), 100, 0.5),
        ValueError,
        ["delta must be at most 2 exp"],
    ),
    "bound of 2 bits": (lambda: theorem31(ss.OUE(d=2, eps0=1), 9, 0.1), TypeError, ["a KRR", "OUE"]),
    "bound, eps > 1": (
        lambda: theorem31(krr(4, q(1, 4)), 1000, 1e-6),
        ValueError,
        ["holds for eps <= 1", "1.80", "n >= 3251 users would be enough"],
    ),
    "bound, eps0 too large": (
        lambda: ss.bounds.feldman2020_thm31(4, 10_000, 1e-6),
        ValueError,
        ["eps0 must be at most", "3.763", "got 4"],
    ),
    "numerical clones, step": (
        lambda: ss.papers.feldman2020.numerical_delta(1, 9, 0.1, step=0),
        ValueError,
        ["step must be an integer >= 1", "got 0"],
    ),
    "numerical clones, iterations": (
        lambda: ss.papers.feldman2020.numerical_epsilon(1, 9, 0.1, iterations=2.5),
        ValueError,
        ["iterations must be an integer >= 1", "2.5"],
    ),
    "numerical clones, symbolic eps0": (
        lambda: ss.papers.feldman2020.numerical_epsilon(sp.Symbol("x", positive=True), 9, 0.1),
        TypeError,
        ["numbers", "x"],
    ),
    "the formula of the clones, delta = 0": (
        lambda: ss.papers.feldman2020.thm31_formula(1, 9, 0),
        ValueError,
        ["delta", "between 0 and 1", "0"],
    ),
    "bound, eps0 symbolic": (
        lambda: ss.bounds.feldman2020_thm31(sp.Symbol("x", positive=True), 9, 0.1),
        TypeError,
        ["x"],
    ),
    "rounds of a bound": (lambda: ss.bounds.basic_composition(1, 0, 0), ValueError, ["rounds", "0"]),
    "slack": (lambda: ss.bounds.advanced_composition(1, 0, 3, 0), ValueError, ["slack", "between 0 and 1", "0"]),
    "delta of one round": (lambda: ss.bounds.optimal_composition(1, -1, 3, 1), ValueError, ["delta", "-1"]),
    "calibrate a number": (lambda: ss.calibrate(4, 10, 1, 0.1), TypeError, ["make must be a function of eps0", "4"]),
    "calibrate sigma": (
        lambda: ss.calibrate(lambda sigma: ss.Gaussian(sigma=sigma), 2000, 0.5, 1e-6),
        ValueError,
        ["make must be a function of eps0", "got one of sigma", "lambda inverse: Gaussian(sigma=1/inverse)"],
    ),
    "calibrate to nothing": (
        lambda: ss.calibrate(lambda e: e, 10, 1, 0.1),
        TypeError,
        ["make must return a randomizer"],
    ),
    "calibrate, n = 0": (
        lambda: ss.calibrate(ss.BinaryRR, 0, 1, 0.1),
        ValueError,
        ["n must be an integer >= 1, got 0"],
    ),
    "calibrate, delta = 1": (lambda: ss.calibrate(ss.BinaryRR, 9, 1, 1), ValueError, ["delta", "1"]),
    "calibrate, always met": (
        lambda: ss.calibrate(lambda e: ss.BinaryRR(eps0=1), 10, 1, 0.5),
        ValueError,
        ["delta = 0.5 at eps = 1 is met by every eps0"],
    ),
    "calibrate, never met": (
        lambda: ss.calibrate(lambda e: ss.BinaryRR(eps0=9), 2, 1, 1e-3),
        ValueError,
        ["delta = 0.001 at eps = 1 is not reached by any eps0"],
    ),
    "users, never met": (
        lambda: ss.users_needed(ss.model.Decomposition([1, 0], [half, half], [0, half]), 0.1, 1e-3),
        ValueError,
        ["delta = 0.001", "not reached by any n <= 2^53", "still at least"],
    ),
    "users of a number": (lambda: ss.users_needed(3, 0.1, 1e-3), TypeError, ["source must be a randomizer", "3"]),
    "users first": (lambda: ss.Shuffle(9, ss.BinaryRR(eps0=1)), TypeError, ["it comes first, then n", "9"]),
    "a class of randomizers": (lambda: ss.Shuffle(ss.KRR, 9), TypeError, ["give it its parameters: KRR(…)"]),
    "calibrate a randomizer": (
        lambda: ss.calibrate(ss.BinaryRR(eps0=1), 9, 1, 0.1),
        TypeError,
        ["lambda eps0:", "BinaryRR(eps0=1)"],
    ),
    "percent": (
        lambda: ss.from_matrix([[70, 30], [20, 80]]),
        ValueError,
        ["of input 0, must sum to 1, got the sum 100"],
    ),
    "a sum of an interval": (lambda: 1 + ss.Interval(0.25, 0.5), TypeError, ["take .upper", "[0.25"]),
    "a rounded interval": (lambda: round(ss.Interval(0.25, 0.5), 2), TypeError, ["take .upper", "[0.25"]),
    "sweep of a number": (lambda: ss.sweep(3, {"x": [1]}), TypeError, ["fn must be a function, got 3"]),
    "sweep without a grid": (lambda: ss.sweep(print, {}), TypeError, ["grid must be a mapping"]),
    "sweep, empty list": (lambda: ss.sweep(print, {"x": []}), ValueError, ["grid['x']", "not empty"]),
    "sweep, text": (lambda: ss.sweep(print, {"x": "ab"}), ValueError, ["grid['x']", "'ab'"]),
    "sweep, object": (lambda: ss.sweep(print, {"x": [R3]}), TypeError, ["grid['x']", "numbers, texts"]),
    "sweep, twice": (lambda: ss.sweep(print, {"x": [1, 1]}), ValueError, ["grid must not hold the same value twice"]),
    "sweep, names clash": (
        lambda: ss.sweep(lambda value: 1, {"value": [1]}, progress=False),
        ValueError,
        ["['value']"],
    ),
    "sweep, another file": (
        lambda: ss.sweep(print, {"x": [1]}, path=__file__),
        ValueError,
        ["path must name a new file", "its first line does not say", "another path"],
    ),
    "sweep, result": (lambda: ss.sweep(lambda x: {1: x}, {"x": [1]}, progress=False), TypeError, ["JSON can hold"]),
    "binomial of OUE": (
        lambda: ss.Shuffle(ss.OUE(d=3, eps0=1), 9).delta(0.1, method="binomial"),
        ValueError,
        ["at most one positive and one negative", "contour"],
    ),
    "rtol too small": (
        lambda: ss.Shuffle(ss.decomposition.blanket(R3), 10**13).delta(1e-6, rtol=1e-15),
        ValueError,
        ["1e-15", "larger rtol", "digits="],
    ),
    "rtol below a double": (
        lambda: ss.Shuffle(R3, 6).delta(0.1, rtol=1e-20),
        ValueError,
        ["rtol must be at least 8.9e-16", "doubles", "got 1e-20", "digits=20"],
    ),
    "no digits": (lambda: M.delta(1, digits=0), ValueError, ["digits must be an integer >= 1", "0"]),
    "digits of an fft": (lambda: M.delta(1, digits=20, method="fft"), ValueError, ['"auto" or "exact"', "'fft'"]),
    "digits of too many messages": (
        lambda: ss.Shuffle(ss.OLH(g=4, d=16, eps0=1), 1).delta(0, digits=5),
        ValueError,
        ["OLH(g=4, d=16", "more than 262144 probabilities", "fewer inputs", "rtol="],
    ),
    "digits of too many users": (
        lambda: ss.Shuffle(R3, 10**6).delta(0.1, digits=30),
        ValueError,
        ["digits = 30", "within 20 s up to n = ", "got n = 1000000", "rtol="],
    ),
    "digits of too many users of a blanket": (
        lambda: ss.Shuffle(D, 10**9).delta(0.1, digits=30),
        ValueError,
        ["digits = 30", "within 20 s up to n = ", "got n = 1000000000", "rtol="],
    ),
    "digits of noise": (lambda: ss.Shuffle(ss.Laplace(1), 3).delta(1, digits=30), TypeError, ["continuous", "R.lower"]),
    "log_delta, eps": (lambda: M.log_delta(-1), ValueError, ["eps must be a number >= 0", "-1"]),
    "L = 0": (lambda: ss.FourierAccountant(PLD, 0, 10), ValueError, ["L must be a number > 0, got 0"]),
    "L = -1": (lambda: ss.FourierAccountant(PLD, -1, 10), ValueError, ["L must be a number > 0, got -1"]),
    "L too large": (lambda: ss.FourierAccountant(PLD, 1e300, 4), ValueError, ["L and m", "spacing 2L/m", "L = 1e+300"]),
    "L too small": (lambda: ss.FourierAccountant(PLD, 1e-20, 2), ValueError, ["L and m", "spacing 2L/m", "m = 2"]),
    "bound, k symbolic": (
        lambda: theorem31(ss.KRR(eps0=1), 9, 0.1),
        TypeError,
        ["k"],
    ),
    "L without m": (lambda: ss.FourierAccountant(PLD, L=20), ValueError, ["L and m must be given together"]),
    "m odd": (lambda: ss.FourierAccountant(PLD, 20, 11), ValueError, ["m must be an even integer >= 2, got 11"]),
    "m = 0": (lambda: ss.FourierAccountant(PLD, 20, 0), ValueError, ["m must be an integer >= 2, got 0"]),
    "m too large": (
        lambda: ss.FourierAccountant(PLD, 20, 10**7, max_bytes=10**6),
        ValueError,
        ["m = 10000000", "max_bytes = 1000000", "m <= 15624 would fit"],
    ),
    "budget, rounds = 0": (lambda: ss.Budget().spend(M, 0), ValueError, ["rounds", ">= 1", "0"]),
    "budget, no mechanism": (lambda: ss.Budget().spend(R3), TypeError, ["Shuffle", "KRR"]),
    "budget, delta = 1": (lambda: ss.Budget().spent(1), ValueError, ["delta", "1"]),
    "rounds allowed, eps": (lambda: ss.rounds_allowed(M, -1, 0.1), ValueError, ["eps", ">= 0", "-1"]),
    "rounds allowed, M": (lambda: ss.rounds_allowed(3, 1, 0.1), TypeError, ["Shuffle", "3"]),
    "rounds allowed, no loss": (
        lambda: ss.rounds_allowed(ss.Shuffle(ss.KRR(k=3, eps0=0), 5), 1, 0.1),
        ValueError,
        ["M must have a privacy loss", "eps0=0", "any number"],
    ),
    "budget, another version": (
        lambda: ss.Budget.from_json('{"format": "shuffle_sym budget 0"}'),
        ValueError,
        ["'shuffle_sym budget 2'", "got 'shuffle_sym budget 0'"],
    ),
    "budget, no JSON": (lambda: ss.Budget.from_json("eps = 3"), ValueError, ["JSON", "eps = 3"]),
    "rtol beyond doubles": (
        lambda: accountant.delta(0.1, rounds=40, rtol=1e-15),
        ValueError,
        ["rtol = 1e-15", "40 rounds", "reached so far: [0.", "relative width"],
    ),
    "max_bytes = 0": (lambda: ss.FourierAccountant(PLD, max_bytes=0), ValueError, ["max_bytes", "0"]),
    "rounds = 0": (lambda: accountant.delta(1, rounds=0), ValueError, ["rounds must be an integer >= 1, got 0"]),
    "rounds = 1.5": (lambda: accountant.epsilon(0.1, rounds=1.5), ValueError, ["rounds", "1.5"]),
    "rounds in a list": (lambda: accountant.epsilon(0.1, rounds=[1, 0]), ValueError, ["rounds", "0"]),
    "count = 0": (lambda: ss.FourierAccountant([(PLD, 0)]), ValueError, ["count must be an integer >= 1, got 0"]),
    "no pld": (lambda: ss.FourierAccountant([]), TypeError, ["pld must be", "[]"]),
    "pld = 3": (lambda: ss.FourierAccountant([3]), TypeError, ["pld must hold", "3"]),
    "rounding": (lambda: ss.FourierAccountant(PLD, rounding="up"), ValueError, ["rounding", "'split'", "'outward'"]),
    "pld not normalised": (
        lambda: ss.accounting.PairPLD([half, q(1, 3)], [half, half]),
        ValueError,
        ["P must sum to 1", "0.8333", "off by"],
    ),
    "pld of doubles not normalised": (
        lambda: ss.accounting.PairPLD([0.5, 0.5], [0.5, 0.5 + 1e-9]),
        ValueError,
        ["Q must sum to 1", "off by 1e-09"],
    ),
    "pld negative": (
        lambda: ss.accounting.PairPLD([2, -1], [1, 0]),
        ValueError,
        ["P must hold masses between 0 and 1", "2"],
    ),
    "pld nan": (lambda: ss.accounting.PairPLD([math.nan, 1], [1, 0]), ValueError, ["P", "nan"]),
    "pld irrational": (
        lambda: ss.accounting.PairPLD([sp.sqrt(2), 1], [1, 0]),
        TypeError,
        ["P must hold fractions", "sqrt(2)"],
    ),
    "pld lengths": (lambda: ss.accounting.PairPLD([1], [half, half]), ValueError, ["equally long", "1 and 2"]),
    "pld text": (lambda: ss.accounting.PairPLD("ab", "cd"), TypeError, ["P must be a sequence", "'ab'"]),
    "pld of several pairs": (
        lambda: ss.accounting.ShuffledPLD(ss.from_matrix([[half, half], [1, 0]]), 3),
        ValueError,
        ["one pair of inputs", "blanket(R, x0, x1)"],
    ),
    "pld of a symbol": (lambda: ss.accounting.ShuffledPLD(ss.KRR(k=3), 3), TypeError, ["still symbolic", "epsilon_0"]),
    "pld of a number": (lambda: ss.accounting.ShuffledPLD(3, 3), TypeError, ["source must be a Decomposition", "3"]),
    "pld, n = 0": (lambda: ss.accounting.ShuffledPLD(D, 0), ValueError, ["n must be an integer >= 1, got 0"]),
    "pld, tail = 0": (lambda: ss.accounting.ShuffledPLD(D, 3, tail=0), ValueError, ["tail", "0"]),
    "pld, cut": (lambda: ss.accounting.ShuffledPLD(D, 3, cut="none"), ValueError, ["cut", "'binomial'", "'hoeffding'"]),
    "pld, too many cells": (
        lambda: ss.accounting.ShuffledPLD(ss.decomposition.weak(ss.KRR(k=4, eps0=1)), 10**7).losses(1e-20),
        ValueError,
        ["n = 10000000", "cells", "more than"],
    ),
    "composition, no rounds": (
        lambda: ss.truth.exact.composed_divergence([], 2),
        ValueError,
        ["rounds must not be empty"],
    ),
    "composition, alpha irrational": (
        lambda: ss.truth.exact.composed_divergence([{0: (1, 1)}], sp.sqrt(2)),
        ValueError,
        ["alpha must be rational", "sqrt(2)"],
    ),
    "composition, eps0 irrational": (
        lambda: ss.truth.exact.shuffled_pair(ss.decomposition.clones(1), 3),
        ValueError,
        ["sp.log of a rational"],
    ),
    "order = 1": (lambda: ss.truth.exact.renyi_moment(D, 3, 1), ValueError, ["order must be a number > 1", "1"]),
    "order = 1/2": (lambda: ss.bounds.girgis2021_thm33(1, 9, half), ValueError, ["order must be a number > 1", "1/2"]),
    "order = nan": (lambda: ss.truth.exact.two_rr_moment(1, 3, math.nan), ValueError, ["order", "nan"]),
    "order = text": (lambda: ss.bounds.girgis2021_thm31(1, 9, "two"), ValueError, ["order", "'two'"]),
    "order = True": (lambda: ss.bounds.girgis2021_thm31(1, 9, True), TypeError, ["order", "True"]),
    "order too large": (
        lambda: ss.bounds.girgis2021_thm31(1, 9, 10**8),
        ValueError,
        ["order must be at most 10000000 here"],
    ),
    **{
        f"{name}, order = 2.5": (
            lambda name=name: getattr(ss.bounds, f"girgis2021_{name}")(1, 1000, 2.5),
            ValueError,
            ["order must be an integer >= 2", "rdp.interpolated", "2.5"],
        )
        for name in ("thm31", "cor32", "thm34", "cor35", "thm36", "best_gamma")
    },
    "simplified bound": (
        lambda: ss.bounds.girgis2021_cor32(sp.log(2), 10**6, 9),
        ValueError,
        ["order^4 exp(5 eps0) < n/9", "orders up to 7", "got 9", "girgis2021_thm31"],
    ),
    "simplified bound, few users": (
        lambda: ss.bounds.girgis2021_cor32(1, 100, 2),
        ValueError,
        ["no order", "got 2"],
    ),
    "gamma = 0": (
        lambda: ss.bounds.girgis2021_thm31(1, 9, 2, 0),
        ValueError,
        ["gamma must be a number in (0, 1]", "0"],
    ),
    "gamma = 2": (
        lambda: ss.bounds.girgis2021_thm33(1, 9, 2, 2),
        ValueError,
        ["gamma must be a number in (0, 1]", "2"],
    ),
    "gamma = text": (lambda: ss.bounds.girgis2021_thm31(1, 9, 2, "half"), ValueError, ["gamma", "'half'"]),
    "sampling rate": (lambda: ss.rdp.poisson_subsampled(float, 0), ValueError, ["gamma", "(0, 1]", "0"]),
    "sampled share": (lambda: ss.rdp.sampled_without_replacement(float, -1, 1), ValueError, ["gamma", "-1"]),
    "rate of a pair": (lambda: ss.bounds.poisson_subsampled(1, 0, 1.5), ValueError, ["gamma", "1.5"]),
    "subsampled order": (lambda: ss.rdp.poisson_subsampled(float, 1)(2.5), ValueError, ["integer >= 2", "2.5"]),
    "T = 0": (lambda: ss.rdp.repeated(float, 0), ValueError, ["rounds must be an integer >= 1, got 0"]),
    "no curves": (lambda: ss.rdp.composed(), ValueError, ["curves must not be empty"]),
    "curve = 3": (lambda: ss.rdp.epsilon(3, 0.1), TypeError, ["curve must be a function of the order", "3"]),
    "no orders": (lambda: ss.rdp.epsilon(float, 0.1, orders=[]), ValueError, ["orders must not be empty"]),
    "orders": (lambda: ss.rdp.delta(float, 1, orders=[1]), ValueError, ["orders must be a number > 1", "1"]),
    "interpolated order": (lambda: ss.rdp.interpolated(float)(1), ValueError, ["order must be a number > 1"]),
    "eps0 of a bound": (lambda: ss.bounds.girgis2021_thm36(-1, 9, 2), ValueError, ["eps0", "-1"]),
    "eps0 = 400": (lambda: ss.bounds.girgis2021_thm36(400, 9, 2), ValueError, ["between 1e-15 and 300", "400"]),
    "eps0 = 1e-40": (lambda: ss.bounds.girgis2021_thm34(1e-40, 9, 2), ValueError, ["between 1e-15 and 300", "1e-40"]),
    "eps0 = 200 in (9)": (lambda: ss.bounds.girgis2021_eq9(200, 9, 2), ValueError, ["at most about 115", "200"]),
    "a curve of nan": (
        lambda: ss.rdp.epsilon(lambda order: float("nan"), 0.1),
        ValueError,
        ["curve", "nan", "order 2"],
    ),
    "a curve below 0": (lambda: ss.rdp.delta(lambda order: -1, 1), ValueError, ["curve", ">= 0", "-1"]),
    "a subsampled curve of nan": (
        lambda: ss.rdp.poisson_subsampled(lambda order: float("nan"), 0.5)(3),
        ValueError,
        ["curve", "nan"],
    ),
    "how to subsample": (
        lambda: ss.rdp.poisson_subsampled(float, 0.5, by="magic"),
        ValueError,
        ["by", "'proved'", "'magic'"],
    ),
    "simplified Balle at a large eps0": (
        lambda: ss.bounds.balle2019_cor531(300, 10**9, 1e-9),
        ValueError,
        ["eps0 must be at most", "300", "users would be enough"],
    ),
    "moment of R": (lambda: ss.truth.exact.renyi_moment(R3, 3, 2), TypeError, ["D must be a Decomposition"]),
    "infinite moment": (
        lambda: ss.truth.exact.renyi_moment(ss.decomposition.strong(R3), 3, 2),
        ValueError,
        ["infinite", "use delta(eps)"],
    ),
    "infinite moment of datasets": (
        lambda: ground_truth.renyi_moment(ss.from_matrix([[half, half], [1, 0]]), (0,), (1,), 2),
        ValueError,
        ["infinite", "use delta"],
    ),
    "moment too large": (lambda: ss.truth.exact.renyi_moment(D, 10**6, 2), ValueError, ["n = 1000000", "smaller n"]),
    "moment, too many terms": (
        lambda: ss.truth.exact.two_rr_moment(1, 10**9, 2, reverse=True),
        ValueError,
        ["n = 1000000000", "reverse=False"],
    ),
    "moment below 1": (
        lambda: ss.truth.exact.renyi_divergence(half, 2),
        ValueError,
        ["moment must be a number >= 1", "1/2"],
    ),
    "strong slack": (lambda: ss.bounds.strong_composition(1, 0, 3, 1), ValueError, ["slack", "between 0 and 1", "1"]),
    "written out": (lambda: ss.derivations.rdp_moments(13), ValueError, ["largest must be an integer in 2 … 12", "13"]),
    "n = 0": (lambda: ss.Shuffle(R3, 0), ValueError, ["n must be an integer >= 1", "0"]),
    "n = -5": (lambda: ss.Shuffle(R3, -5), ValueError, ["n must be an integer >= 1, got -5"]),
    "n = 2.5": (lambda: ss.Shuffle(R3, 2.5), ValueError, ["n must be an integer >= 1, got 2.5"]),
    "n = nan": (lambda: ss.Shuffle(R3, math.nan), ValueError, ["n must be an integer >= 1", "nan"]),
    "n = inf": (lambda: ss.Shuffle(R3, math.inf), ValueError, ["n must be an integer >= 1", "inf"]),
    "n = text": (lambda: ss.Shuffle(R3, "ten"), ValueError, ["n must be", "'ten'"]),
    "n = True": (lambda: ss.Shuffle(R3, True), TypeError, ["n must be", "True"]),
    "n = None": (lambda: ss.Shuffle(R3, None), TypeError, ["n must be", "None"]),
    "source": (lambda: ss.Shuffle("KRR", 3), TypeError, ["source", "'KRR'"]),
    "eps = -1": (lambda: M.delta(-1), ValueError, ["eps must be a number >= 0", "-1"]),
    "eps in a list": (lambda: M.delta([0.1, -1]), ValueError, ["eps must be a number >= 0", "-1"]),
    "eps in a matrix": (lambda: M.delta(np.ones((2, 2))), ValueError, ["eps must be a number or a list", "(2, 2)"]),
    "alpha of a hockey stick": (lambda: M.hockey_stick(0), ValueError, ["alpha must be a number > 0", "0"]),
    "alphas of a hockey stick": (lambda: M.hockey_stick([1, -2]), ValueError, ["alpha must be a number > 0", "-2"]),
    "rtol of a hockey stick": (lambda: M.hockey_stick([1, 2], rtol=2), ValueError, ["rtol", "2"]),
    "eps = nan": (lambda: M.delta(math.nan), ValueError, ["eps", "nan"]),
    "eps = inf": (lambda: M.delta(math.inf), ValueError, ["eps", "inf"]),
    "eps symbolic": (lambda: M.delta(sp.Symbol("e")), ValueError, ["eps", "e"]),
    "eps complex": (lambda: M.delta(1j), TypeError, ["eps", "1j"]),
    "eps0 = -1": (lambda: ss.KRR(k=3, eps0=-1), ValueError, ["eps0 must be a number >= 0", "-1"]),
    "eps0 = nan": (lambda: ss.BinaryRR(eps0=math.nan), ValueError, ["eps0", "nan"]),
    "eps0 = oo": (lambda: ss.BinaryRR(eps0=sp.oo), ValueError, ["eps0", "oo"]),
    "eps0 = text": (lambda: ss.BinaryRR(eps0="one"), ValueError, ["eps0", "'one'"]),
    "delta = 0": (lambda: M.epsilon(0), ValueError, ["delta must be a number strictly between 0 and 1", "0"]),
    "delta = 1": (lambda: M.epsilon(1), ValueError, ["delta", "1"]),
    "delta = 5, meant for eps": (lambda: M.epsilon(5), ValueError, ["delta", "got 5", "did you mean delta(eps=5)?"]),
    "KRR(epsilon)": (lambda: ss.KRR(epsilon=4), TypeError, ["KRR has no argument 'epsilon'", "eps0?", "k, eps0"]),
    "Laplace(scale)": (lambda: ss.Laplace(scale=1), TypeError, ["'scale'", "eps0, which is 1/scale"]),
    "Gaussian(std)": (lambda: ss.Gaussian(std=1), TypeError, ["'std'", "did you mean sigma?"]),
    "OUE(k)": (lambda: ss.OUE(k=3, eps0=1), TypeError, ["OUE has no argument 'k'", "did you mean d?"]),
    "calibrate(KRR)": (
        lambda: ss.calibrate(ss.KRR, n=100, eps=1, delta=1e-6),
        TypeError,
        ["make must be a function of eps0 alone", "lambda eps0: KRR(k=…, eps0=eps0)"],
    ),
    "calibrate(Gaussian)": (
        lambda: ss.calibrate(ss.Gaussian, n=100, eps=1, delta=1e-6),
        TypeError,
        ["make must be a function of eps0, got Gaussian, which has sigma"],
    ),
    "exact without a question": (lambda: M.exact(), ValueError, ["alpha or eps must be given"]),
    "exact, eps = -1": (lambda: M.exact(eps=-1), ValueError, ["eps must be a number >= 0", "-1"]),
    "delta = 2": (lambda: M.epsilon(2), ValueError, ["delta", "2"]),
    "delta = nan": (lambda: M.epsilon(math.nan), ValueError, ["delta", "nan"]),
    "alpha = 0": (lambda: M.exact(0), ValueError, ["alpha must be a number > 0", "0"]),
    "alpha = -1": (lambda: M.exact(-1), ValueError, ["alpha", "-1"]),
    "digits = 0": (lambda: M.exact(2, digits=0), ValueError, ["digits", "0"]),
    "rtol = 0": (lambda: M.delta(1, rtol=0), ValueError, ["rtol", "0"]),
    "method": (lambda: M.delta(1, method="magic"), ValueError, ["method", "'magic'", "'fft'"]),
    "k = 1": (lambda: ss.KRR(k=1, eps0=1), ValueError, ["k must be an integer >= 2, got 1"]),
    "k = 2.5": (lambda: ss.KRR(k=2.5, eps0=1), ValueError, ["k must be an integer >= 2, got 2.5"]),
    "k = text": (lambda: ss.KRR(k="7/2", eps0=1), ValueError, ["k must be an integer", "7/2"]),
    "x0 = x1": (lambda: ss.decomposition.blanket(R3, 1, 1), ValueError, ["x0 and x1", "different", "1"]),
    "x0 = x1 in dataset": (lambda: ss.decomposition.dataset(R3, 1, 1, 2), ValueError, ["x0 and x1", "different"]),
    "x0 = 3 of 3": (lambda: ss.decomposition.blanket(R3, 3, 1), ValueError, ["x0", "3"]),
    "x1 = -1": (lambda: ss.decomposition.blanket(R3, 0, -1), ValueError, ["x1", "-1"]),
    "x2 = 7": (lambda: ss.decomposition.dataset(R3, 0, 1, 7), ValueError, ["x2", "7"]),
    "x2 = 0.5": (lambda: ss.decomposition.dataset(R3, 0, 1, 0.5), TypeError, ["x2", "0.5"]),
    "pair missing": (
        lambda: ss.decomposition.blanket(ss.from_matrix([[half, half], [1, 0]])),
        ValueError,
        ["x0 and x1 must be given"],
    ),
    "row sum": (lambda: ss.from_matrix([[half, half], [half, half / 2]]), ValueError, ["row 1", "sum to 1", "3/4"]),
    "row sum, floats": (lambda: ss.from_matrix([[0.5, 0.49], [1, 0]]), ValueError, ["row 0", "sum to 1", "0.99"]),
    "negative entry": (lambda: ss.from_matrix([[1.5, -0.5], [1, 0]]), ValueError, ["P[0][1]", "non-negative", "-0.5"]),
    "empty matrix": (lambda: ss.from_matrix([]), ValueError, ["P must have at least two rows", "0"]),
    "empty rows": (lambda: ss.from_matrix([[], []]), ValueError, ["P must be rectangular and not empty"]),
    "one row": (lambda: ss.from_matrix([[1]]), ValueError, ["P must have at least two rows", "1"]),
    "ragged": (lambda: ss.from_matrix([[half, half], [1]]), ValueError, ["P must be rectangular", "row 1 has 1"]),
    "nan entry": (lambda: ss.from_matrix([[math.nan, 1], [1, 0]]), ValueError, ["P[0][0]", "nan"]),
    "text entry": (lambda: ss.from_matrix([["a", 1], [1, 0]]), ValueError, ["P[0][0]", "'a'"]),
    "a vector": (lambda: ss.from_matrix(np.array([0.5, 0.5])), TypeError, ["P[0]", "0.5"]),
    "a number": (lambda: ss.from_matrix(3), TypeError, ["P must be a matrix", "3"]),
    "a too large": (lambda: ss.model.Decomposition([1, 1], [half, half], [0, 0]), ValueError, ["a must sum to 1", "2"]),
    "b negative": (lambda: ss.model.Decomposition([1, 0], [2, -1], [0, 0]), ValueError, ["b[1]", "non-negative", "-1"]),
    "c too large": (
        lambda: ss.model.Decomposition([1, 0], [1, 0], [1, 1]),
        ValueError,
        ["c must sum to at most 1", "2"],
    ),
    "lengths": (lambda: ss.model.Decomposition([1], [1, 0], [1, 0]), ValueError, ["equally long", "1, 2, 2"]),
    "symbolic float": (lambda: ss.Shuffle(ss.KRR(), 3).delta(1), TypeError, ["epsilon_0", "k", "make it with numbers"]),
    "symbolic exact": (lambda: ss.Shuffle(ss.KRR(k=3), 3).exact(2), TypeError, ["still symbolic: epsilon_0"]),
    "grid, k = 3.5": (lambda: ss.randomizers.DiscreteLaplace(k=3.5), ValueError, ["k must be an integer >= 2", "3.5"]),
    "symbolic matrix": (lambda: ss.KRR(eps0=1).matrix(), TypeError, ["still symbolic: k"]),
    "exact too large": (lambda: ss.Shuffle(R3, 10**6).exact(2), ValueError, ["n = 1000000", "use delta(eps"]),
    "exact far too large": (
        lambda: ss.Shuffle(R3, 10**15).exact(2),
        ValueError,
        ["exact(alpha)", "up to n = 79", "got n = 1000000000000000", "use delta(eps"],
    ),
    "not neighbours": (lambda: ground_truth.delta(R3, (0, 0), (1, 1), 2), ValueError, ["differ in one user"]),
    "equal datasets": (lambda: ground_truth.delta(R3, (0, 0), (0, 0), 2), ValueError, ["differ in one user"]),
    "lengths differ": (lambda: ground_truth.delta(R3, (0,), (0, 1), 2), ValueError, ["equally long"]),
    "not an input": (lambda: ground_truth.delta(R3, (0, 3), (1, 3), 2), ValueError, ["X0[1]", "3"]),
    "no dataset": (lambda: ground_truth.delta(R3, (), (), 2), TypeError, ["X0", "()"]),
    "too many datasets": (
        lambda: ground_truth.worst_pair(ss.KRR(k=9, eps0=1), 40, 2),
        ValueError,
        ["n = 40", "314457495 neighbouring pairs", "histograms each", "smaller n", "the largest feasible one is 10"],
    ),
    "too many histograms": (
        lambda: ground_truth.delta(ss.RAPPOR(d=4, eps0=1), (0,) * 40, (1, *(0,) * 39), 2),
        ValueError,
        ["n = 40", "histograms of 15 kinds of messages", "the largest feasible n is 10"],
    ),
    "truth of infinitely many inputs": (
        lambda: ground_truth.worst_pair(ss.OUE(d=sp.oo, eps0=1), 2, 2),
        ValueError,
        ["finitely many inputs", "OUE"],
    ),
    "truth, progress": (lambda: ground_truth.worst_pairs(R3, 2, [2], progress=True), TypeError, ["progress", "True"]),
    "map without n": (lambda: ss.truth.neighbours.worst_map(R3, [], [2]), TypeError, ["users must be a list", "[]"]),
    "map, n = 0": (
        lambda: ss.truth.neighbours.worst_map(R3, [0], [2]),
        ValueError,
        ["n must be an integer >= 1, got 0"],
    ),
    "map, alpha": (
        lambda: ss.truth.neighbours.worst_map(R3, [2], [-1]),
        ValueError,
        ["alpha must be a number > 0", "-1"],
    ),
    "family": (lambda: ss.truth.neighbours.family_values(R3, 2, [2], "x2"), ValueError, ["family", "'third'", "'x2'"]),
    "no third": (
        lambda: ss.truth.neighbours.family_values(ss.BinaryRR(eps0=1), 2, [2], "third"),
        ValueError,
        ["family 'third' needs a third input", "has 2"],
    ),
    "rule": (lambda: ss.truth.neighbours.exceptions([], "none"), ValueError, ["rule must be one of", "'none'"]),
    "mixture, list": (lambda: ss.decomposition.mixture(R3, 0, 1, [1]), TypeError, ["weights must map inputs", "[1]"]),
    "mixture, sum": (
        lambda: ss.decomposition.mixture(R3, 0, 1, {2: 0.5}),
        ValueError,
        ["weights must sum to 1", "1/2"],
    ),
    "mixture, sign": (
        lambda: ss.decomposition.mixture(R3, 0, 1, {0: 2, 2: -1}),
        ValueError,
        ["weights[2] must be a rational number >= 0", "-1"],
    ),
    "mixture, input": (lambda: ss.decomposition.mixture(R3, 0, 1, {7: 1}), ValueError, ["weights", "0 … 2", "7"]),
    "analyses of D": (
        lambda: ss.Shuffle(D, 9).analyses(delta=0.1),
        TypeError,
        ["analyses is for n users of a randomizer", "one analysis itself"],
    ),
    "analyses without a question": (lambda: M.analyses(), ValueError, ["delta or eps must be given", "one of the two"]),
    "analyses, two questions": (lambda: M.analyses(delta=0.1, eps=1), ValueError, ["delta or eps must be given"]),
    "analyses, delta": (lambda: M.analyses(delta=0), ValueError, ["delta", "between 0 and 1", "0"]),
    "analyses, eps": (lambda: M.analyses(eps=-1), ValueError, ["eps must be a number >= 0", "-1"]),
    "analyses, rtol": (lambda: M.analyses(eps=1, rtol=2), ValueError, ["rtol", "2"]),
    "analyses, symbols": (
        lambda: ss.Shuffle(ss.KRR(k=3), 9).analyses(delta=0.1),
        TypeError,
        ["still symbolic: epsilon_0"],
    ),
    "analyses, name": (
        lambda: M.analyses(delta=0.1).row("magic"),
        ValueError,
        ["name must be one of", "'blanket'", "'magic'"],
    ),
    "any randomizer, eps0": (lambda: ss.AnyRandomizer(-1), ValueError, ["eps0 must be a number >= 0", "-1"]),
    "any randomizer, data first": (
        lambda: ss.AnyRandomizer(1, data_shuffled_first=1),
        TypeError,
        ["data_shuffled_first", "True or False", "1"],
    ),
    "any randomizer, symbols": (
        lambda: ss.Shuffle(ss.AnyRandomizer(sp.Symbol("x", positive=True)), 9).delta(0.1),
        TypeError,
        ["still symbolic: x"],
    ),
    "any randomizer, exact": (
        lambda: ss.Shuffle(ss.AnyRandomizer(1), 3).exact(2),
        TypeError,
        ["one randomizer", "KRR", "AnyRandomizer(eps0=1"],
    ),
    "any randomizer, digits": (
        lambda: ss.Shuffle(ss.AnyRandomizer(1), 3).delta(1, digits=30),
        TypeError,
        ["one randomizer", "AnyRandomizer(eps0=1"],
    ),
    "two messages of three": (lambda: TwoMessages(R3, 9), ValueError, ["R must have two messages", "Shuffle(R, n)"]),
    "two messages, n": (lambda: TwoMessages(ss.BinaryRR(eps0=1), 10**6), ValueError, ["n must be at most 20000"]),
    "cells, x": (lambda: ss.Laplace(1).dataset(2, 8), ValueError, ["x2 must be a number in [0, 1]", "2"]),
    "unbounded loss, published": (
        lambda: ss.papers.su2025.algorithm4(
            ss.decomposition.blanket(ss.from_matrix([[1, 0], [half, half]]), 1, 0), 3, 1
        ),
        ValueError,
        ["finite eps0", "not bounded"],
    ),
    "unreachable delta": (
        lambda: ss.Shuffle(ss.from_matrix([[1, 0], [half, half]]), 3).epsilon(1e-3),
        ValueError,
        ["no ε meets delta = 0.001", "≥ 0.5"],
    ),
    "delta below its limit": (
        lambda: ss.Shuffle(ss.model.Decomposition([1, 0], [0, 1], ["1/2", "1/2"]), 5).epsilon(1e-9),
        ValueError,
        ["delta = 1e-09 is not reached", "at least 0.062"],
    ),
    "grid too large": (
        lambda: ss.Shuffle(ss.KRR(k=10, eps0=4), 10**9).delta(0.001, rtol=1e-6, method="fft"),
        ValueError,
        ["lattice points", "larger rtol"],
    ),
    "published too large": (
        lambda: ss.papers.su2025.algorithm4(ss.decomposition.blanket(ss.KRR(k=10, eps0=4)), 10**6, 0.1),
        ValueError,
        ["lattice points at n = 1000000", "Shuffle(D, n).delta(eps)"],
    ),
    "n = i": (lambda: ss.Shuffle(R3, sp.I), ValueError, ["n must be an integer >= 1", "I"]),
    "k = i": (lambda: ss.KRR(k=sp.I, eps0=1), ValueError, ["k must be an integer >= 2", "I"]),
    "k negative symbol": (lambda: ss.KRR(k=sp.Symbol("m", negative=True)), ValueError, ["k must be", "m"]),
    "eps0 without a sign": (lambda: ss.KRR(eps0=sp.Symbol("x")), ValueError, ["eps0 must be known to be >= 0", "x"]),
    "eps of unknown sign": (lambda: M.delta(sp.cos(1) ** 2 + sp.sin(1) ** 2 - 1 - q(1, 10**300)), ValueError, ["eps"]),
    "one input": (lambda: ss.decomposition.blanket(R3, 0), TypeError, ["x1", "0 … 2", "None"]),
    "not a randomizer": (lambda: ss.decomposition.blanket("R"), TypeError, ["R must be one randomizer", "'R'"]),
    "truth of text": (lambda: ground_truth.delta("R", (0,), (1,), 2), TypeError, ["R must be one randomizer"]),
    "worst of text": (lambda: ground_truth.worst_pair("R", 2, 2), TypeError, ["R must be one randomizer"]),
    "digits in truth": (lambda: ground_truth.delta(R3, (0,), (1,), 2, digits=-5), ValueError, ["digits", "-5"]),
    "divergence of R": (lambda: ss.truth.exact.divergence(R3, 3, 2), TypeError, ["D must be a Decomposition"]),
    "divergence, n = 0": (lambda: ss.truth.exact.divergence(D, 0, 2), ValueError, ["n must be an integer >= 1"]),
    "divergence, alpha < 0": (lambda: ss.truth.exact.divergence(D, 3, -2), ValueError, ["alpha must be a number > 0"]),
    "exact too long": (
        lambda: ss.Shuffle(R3, 3000).exact(2),
        ValueError,
        ["n = 3000", "up to n = 79", "use delta(eps"],
    ),
    "text mass": (lambda: ss.model.Decomposition(["x", 0], [1, 0], [0, 0]), ValueError, ["a[0]", "'x'"]),
    "mass over zero": (lambda: ss.model.Decomposition(["1/0", 0], [1, 0], [0, 0]), ValueError, ["a[0]", "'1/0'"]),
    "masses not a sequence": (lambda: ss.model.Decomposition(1, 1, 1), TypeError, ["a must be a sequence", "1"]),
    "labels": (lambda: ss.model.Decomposition([1], [1], [1], labels=["x", "y"]), ValueError, ["labels", "2"]),
    "method of another type": (lambda: M.delta(1, method=np.array(["fft"])), ValueError, ["method must be one of"]),
    "row barely wrong": (lambda: ss.from_matrix([[0.5, 0.4999999], [1, 0]]), ValueError, ["row 0", "sum to 1"]),
    "exact row barely wrong": (
        lambda: ss.from_matrix([[q(1, 3), q(2, 3) - q(1, 10**13)], [1, 0]]),
        ValueError,
        ["row 0"],
    ),
    "n beyond doubles": (lambda: ss.Shuffle(R3, 10**17), ValueError, ["n must be at most 2^53"]),
    "delta beyond doubles": (lambda: M.epsilon(q(1, 10**400)), ValueError, ["delta must be at least 1e-300"]),
    "d = 1": (lambda: ss.RAPPOR(d=1, eps0=1), ValueError, ["d must be an integer >= 2, got 1"]),
    "d = 0": (lambda: ss.OUE(d=0, eps0=1), ValueError, ["d must be an integer >= 2, got 0"]),
    "g = 1": (lambda: ss.OLH(g=1, d=3, eps0=1), ValueError, ["g must be an integer >= 2, got 1"]),
    "K = 6": (lambda: ss.HadamardResponse(K=6, eps0=1), ValueError, ["K must be a power of two", "6"]),
    "K = 2": (lambda: ss.HadamardResponse(K=2, eps0=1), ValueError, ["K must be an integer >= 4, got 2"]),
    "b = 6": (lambda: BlockHadamard(B=2, b=6, eps0=1), ValueError, ["b must be a power of two", "6"]),
    "B = 1": (lambda: BlockHadamard(B=1, b=4, eps0=1), ValueError, ["B must be an integer >= 2, got 1"]),
    "no adjacency": (lambda: Stated.from_profile({0: 0.5}), ValueError, ["adjacency must be one of", "replace-one"]),
    "other adjacency": (
        lambda: Stated.from_trade_off({0.5: 0.1}, adjacency="zero-out"),
        ValueError,
        ["adjacency", "'add-or-remove-one'", "'zero-out'"],
    ),
    "stated delta": (lambda: Stated.from_profile({0: 2}, adjacency="replace-one"), ValueError, ["delta", "2"]),
    "stated eps": (lambda: Stated.from_profile({-1: 0.5}, adjacency="replace-one"), ValueError, ["eps", "-1"]),
    "nothing stated": (
        lambda: Stated.from_profile([], adjacency="replace-one"),
        ValueError,
        ["points", "one at least"],
    ),
    "no points": (lambda: Stated.from_profile(3, adjacency="replace-one"), TypeError, ["points must be pairs", "3"]),
    "no pld of Google": (
        lambda: Stated.from_dp_accounting(3, adjacency="replace-one"),
        TypeError,
        ["pld", "dp_accounting", "3"],
    ),
    "no profile": (lambda: Stated(3), TypeError, ["profile must be a PrivacyProfile", "3"]),
    "large mu": (lambda: Stated.gaussian(30), ValueError, ["mu must be at most 20", "30"]),
    "w = d": (lambda: ss.SubsetSelection(d=4, w=4, eps0=1), ValueError, ["w must be an integer in 1 … d - 1", "4"]),
    "w = 0": (lambda: ss.SubsetSelection(d=4, w=0, eps0=1), ValueError, ["w must be an integer >= 1, got 0"]),
    "empty joint": (lambda: ss.Joint(), ValueError, ["parts must not be empty"]),
    "joint of text": (lambda: ss.Joint("KRR"), TypeError, ["parts[0]", "'KRR'"]),
    "weights": (lambda: ss.Parallel([R3, R3], [0.5, 0.4]), ValueError, ["weights must sum to 1", "9/10"]),
    "negative weight": (lambda: ss.Parallel([R3, R3], [1.5, -0.5]), ValueError, ["weights[1]", "> 0", "-1/2"]),
    "too few weights": (lambda: ss.Parallel([R3, R3], [1]), ValueError, ["one entry for each of the 2 parts", "1"]),
    "parts differ": (
        lambda: ss.Parallel([R3, ss.BinaryRR(1)], [0.5, 0.5]),
        ValueError,
        ["equally many inputs", "3, 2"],
    ),
    "sigma = 0": (lambda: ss.Gaussian(sigma=0), ValueError, ["sigma must be a number > 0, got 0"]),
    "Laplace(0)": (lambda: ss.Laplace(eps0=0), ValueError, ["eps0 must be a number > 0"]),
    "cells = 0": (lambda: ss.Laplace(eps0=1).lower(0), ValueError, ["cells must be an integer >= 1, got 0"]),
    "exact of Laplace": (
        lambda: ss.Shuffle(ss.Laplace(eps0=1), 3).exact(2),
        TypeError,
        ["continuous", "R.lower(cells)", "R.upper(cells)"],
    ),
    "exact of the blanket of Laplace": (
        lambda: ss.Shuffle(ss.decomposition.blanket(ss.Laplace(1)), 3).exact(2),
        TypeError,
        ["continuous", "R.lower(cells)"],
    ),
    "blanket of Laplace at two inputs": (
        lambda: ss.decomposition.blanket(ss.Laplace(1), 0, 1),
        TypeError,
        ["continuous"],
    ),
    "gparv of Laplace": (lambda: ss.Laplace(1).gparv(), TypeError, ["continuous", "R.lower(cells)"]),
    "ground truth of Laplace": (
        lambda: ground_truth.delta(ss.Laplace(1), (0,), (1,), 2),
        TypeError,
        ["continuous", "R.lower(cells)"],
    ),
    "symbolic Laplace": (lambda: ss.Shuffle(ss.Laplace(), 3).delta(1), TypeError, ["still symbolic: epsilon_0"]),
    "published Laplace": (
        lambda: ss.papers.su2025.algorithm4(ss.Laplace(eps0=1), 3, 0.1),
        TypeError,
        ["D must be a decomposition", "Laplace"],
    ),
    "eps0 too large for doubles": (
        lambda: ss.Shuffle(ss.BinaryRR(eps0=800), 3).delta(1),
        ValueError,
        ["range of doubles", "exact("],
    ),
    "bound of a Gaussian": (
        lambda: ss.bounds.balle2019_hoeffding(ss.Gaussian(1), 100, 0.1),
        ValueError,
        ["source must have a bounded loss", "Gaussian"],
    ),
    "bound of an unbounded loss": (
        lambda: ss.bounds.balle2019_bennett(ss.from_matrix([[1, 0], [half, half]]), 100, 0.1),
        ValueError,
        ["source must have a bounded loss"],
    ),
    "bound of text": (lambda: ss.bounds.balle2019_bennett("R", 100, 0.1), ValueError, ["eps0", "'R'"]),
    "bound of a symbol": (lambda: ss.bounds.balle2019_bennett(ss.KRR(), 100, 0.1), TypeError, ["still symbolic"]),
    "theorem 5.3 of a randomizer": (lambda: ss.bounds.balle2019_thm53(R3, 100, 0.1), TypeError, ["eps0", "KRR"]),
    "bound, delta = 1": (lambda: ss.bounds.balle2019_hoeffding(1, 100, 1), ValueError, ["delta", "between 0 and 1"]),
    "bound, eps = -1": (lambda: ss.bounds.balle2019_hoeffding.delta(1, 100, -1), ValueError, ["eps", "-1"]),
    "bound, n = 0": (lambda: ss.bounds.balle2019_hoeffding.delta(1, 0, 1), ValueError, ["n must be", "0"]),
    "eps0 of eps = 0": (lambda: ss.bounds.balle2019_bennett.eps0(100, 0, 0.1), ValueError, ["eps must be > 0", "0"]),
    "eps0, make": (lambda: ss.bounds.balle2019_bennett.eps0(100, 1, 0.1, R3), TypeError, ["make", "KRR"]),
    "corollary, delta": (
        lambda: ss.bounds.balle2019_cor531(1, 100, 0.1),
        ValueError,
        ["delta must be at most", "0.0894"],
    ),
    "corollary, eps0": (
        lambda: ss.bounds.balle2019_cor531(4, 1000, 1e-6),
        ValueError,
        ["eps0 must be at most", "2.141", "got 4", "n >= 41184 users would be enough"],
    ),
    "Erlingsson, n": (
        lambda: erlingsson(0.1, 999, 1e-3),
        ValueError,
        ["n must be at least 1000", "999"],
    ),
    "Erlingsson, eps0": (
        lambda: erlingsson(0.5, 1000, 1e-3),
        ValueError,
        ["eps0 must be below 1/2"],
    ),
    "Erlingsson, delta": (
        lambda: erlingsson(0.1, 1000, 0.01),
        ValueError,
        ["delta must be below 1/100"],
    ),
    "theorem 3.1, k": (
        lambda: ss.bounds.balle2019_thm31_gamma(sp.Symbol("k", integer=True, positive=True), 100, 1, 0.1),
        TypeError,
        ["a bound needs numbers", "k"],
    ),
    "histogram, k": (
        lambda: ss.protocols.Histogram.for_target(sp.Symbol("k", integer=True, positive=True), 100, 1, 0.1),
        TypeError,
        ["a protocol needs numbers", "k"],
    ),
    "theorem 3.1, eps": (
        lambda: ss.bounds.balle2019_thm31_gamma(4, 100, 2, 0.1),
        ValueError,
        ["eps", "at most 1", "2"],
    ),
    "theorem 3.1, too few users": (
        lambda: ss.protocols.Histogram.for_target(1000, 10_000, 1, 1e-8, by="theorem31"),
        ValueError,
        ["n must be at least 267595 for k = 1000", "n = 10000", "gamma >= 1"],
    ),
    "theorem 4.2, delta": (lambda: ss.bounds.balle2019_thm42(100, 1, half), ValueError, ["delta must be below 1/2"]),
    "category too large": (
        lambda: ss.protocols.Histogram(3, 0.5).run([0, 1, 3]),
        ValueError,
        ["values[2]", "0 … 2", "3"],
    ),
    "category negative": (lambda: ss.protocols.Histogram(3, 0.5).run([0, -1]), ValueError, ["values[1]", "-1"]),
    "category 0.5": (lambda: ss.protocols.Histogram(3, 0.5).run([0, 0.5]), ValueError, ["values[1]", "integer", "0.5"]),
    "category nan": (lambda: ss.protocols.Histogram(3, 0.5).run([0, math.nan]), ValueError, ["values[1]", "nan"]),
    "categories as text": (lambda: ss.protocols.Histogram(3, 0.5).run(["0"]), TypeError, ["values must hold numbers"]),
    "categories as a table": (lambda: ss.protocols.Histogram(3, 0.5).run([[0]]), ValueError, ["one-dimensional", "2"]),
    "no users": (lambda: ss.protocols.Histogram(3, 0.5).run([]), ValueError, ["values must not be empty"]),
    "no messages": (lambda: ss.protocols.Sum(3, 0.5).estimate([]), ValueError, ["messages must not be empty"]),
    "a message that nobody sends": (
        lambda: ss.protocols.Sum(3, 0.5).estimate([4]),
        ValueError,
        ["messages[0]", "0 … 3"],
    ),
    "summand above 1": (lambda: ss.protocols.Sum(3, 0.5).run([0.5, 1.5]), ValueError, ["values[1]", "[0, 1]", "1.5"]),
    "summand below 0": (lambda: ss.protocols.Sum(3, 0.5).run([-0.1]), ValueError, ["values[0]", "[0, 1]", "-0.1"]),
    "summand nan": (lambda: ss.protocols.Sum(3, 0.5).run([math.nan]), ValueError, ["values[0]", "[0, 1]", "nan"]),
    "gamma = 1": (lambda: ss.protocols.Histogram(3, 1), ValueError, ["gamma", "strictly between 0 and 1", "1"]),
    "gamma of a sum": (lambda: ss.protocols.Sum(3, 0), ValueError, ["gamma", "strictly between 0 and 1", "0"]),
    "precision 0": (lambda: ss.protocols.Sum(0, 0.5), ValueError, ["k must be an integer >= 1, got 0"]),
    "a seed for rng": (
        lambda: ss.protocols.Sum(3, 0.5).run([0.5], 7),
        TypeError,
        ["rng", "numpy.random.Generator", "7"],
    ),
    "by": (lambda: ss.protocols.Sum.for_target(9, 1, 0.1, by="magic"), ValueError, ["by", "'certified'", "'magic'"]),
    "a target that leaves nothing": (
        lambda: ss.protocols.Histogram.for_target(3, 10, 0, 1e-9),
        ValueError,
        ["so much noise that no data are left", "larger eps or delta"],
    ),
    "counts of another size": (lambda: ss.protocols.Histogram(3, 0.5).variance([1, 2]), ValueError, ["counts", "3"]),
    "count above n": (lambda: ss.protocols.Histogram(3, 0.5).standard_error(5, 6), ValueError, ["count", "5", "6"]),
    "messages of another randomizer": (
        lambda: ss.protocols.Frequencies(ss.OUE(d=9, eps0=1)).estimate(np.zeros((4, 1), np.uint8)),
        ValueError,
        ["messages must be rows of 2 bytes", "(4, 1)"],
    ),
    "messages without hashes": (
        lambda: ss.protocols.Frequencies(ss.BLH(d=9, eps0=1)).estimate([0, 1]),
        ValueError,
        ["messages must be", "hash"],
    ),
    "frequencies of Laplace": (
        lambda: ss.protocols.Frequencies(ss.Laplace(1)),
        TypeError,
        ["R must be KRR", "Laplace"],
    ),
    "frequencies of a matrix": (
        lambda: ss.protocols.Frequencies(ss.from_matrix([[0.5, 0.5], [0.2, 0.8]])),
        TypeError,
        ["R must be KRR", "SubsetSelection"],
    ),
    "a set of another size": (
        lambda: ss.protocols.Frequencies(ss.SubsetSelection(d=4, w=2, eps0=1)).estimate(np.array([[16]], np.uint8)),
        ValueError,
        ["messages[0] must be a set of 2 inputs, got 1"],
    ),
    "frequencies of infinitely many": (
        lambda: ss.protocols.Frequencies(ss.OUE(d=sp.oo, eps0=1)),
        ValueError,
        ["finitely many inputs"],
    ),
    "frequencies without information": (
        lambda: ss.protocols.Frequencies(ss.KRR(k=3, eps0=0)),
        ValueError,
        ["eps0 > 0", "say nothing"],
    ),
    "too many choices in a view": (
        lambda: definitions.view(4, half, (0,) * 12, definitions.OTHERS),
        ValueError,
        ["n = 12", "244140625 choices", "n <= 9 is feasible"],
    ),
    "audit of an unknown claim": (lambda: ss.audit.run(["K-none"]), ValueError, ["ids must name claims", "'K-none'"]),
    "frequencies of a symbol": (lambda: ss.protocols.Frequencies(ss.KRR(k=3)), TypeError, ["still symbolic"]),
}


@pytest.mark.parametrize(("call", "exception", "words"), BAD.values(), ids=BAD.keys())
def test_a_wrong_argument_raises_and_says_what_is_right(call, exception, words):
    with pytest.raises(exception) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_a_symbol_with_an_unknown_sign_is_refused_rather_than_guessed():
    p = sp.Symbol("p", positive=True)
    with pytest.raises(ss.VerificationError, match=r"1 - p changes sign at p = 1, inside the range \(0, oo\) of p"):
        ss.from_matrix([[p, 1 - p], [1 - p, p]])


def test_an_interval_with_its_ends_exchanged_is_refused():
    with pytest.raises(ss.VerificationError, match="lower <= upper"):
        ss.Interval(1.0, 0.5)
    with pytest.raises(ss.VerificationError, match="nan"):
        ss.Interval(math.nan, 0.5)


def test_the_smallest_delta_is_not_refused():
    assert ss.Shuffle(ss.BinaryRR(eps0=1), 3).epsilon(1e-300).upper <= 1.001
    assert ss.Shuffle(ss.BinaryRR(eps0=1), 3).epsilon(q(1, 10**300)).upper <= 1.001


@pytest.mark.parametrize("name", ["eps", "delta"])
def test_the_same_wrong_number_is_refused_under_each_name(name):
    """What is known about a formula is kept; for which argument it was given is not."""
    for wrong in (sp.I, sp.log(2) + sp.I, sp.oo):
        with pytest.raises(ValueError, match=f"^{name} must be a (real|finite) number"):
            exact_number(wrong, name)
