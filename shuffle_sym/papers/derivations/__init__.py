r"""Derivations: what the papers state, step by step, each step checked by SymPy when it is built."""

from collections.abc import Callable

from shuffle_sym.papers.derivations.adversaries import appendix_a, strong_view, theorem10, two_rr_pair
from shuffle_sym.papers.derivations.amplification import (
    corollary531,
    lemma55,
    lemma56,
    lemma58_all_pairs,
    second_moment,
    theorem53,
)
from shuffle_sym.papers.derivations.blanket import (
    idealised_limit,
    joint_blanket,
    laplace_law,
    lemma51_gaussian,
    lemma51_krr,
    lemma51_laplace,
    lemma52,
    lemma53,
    lemma54,
    lemma57,
    lemma58,
    lemma_a3,
    parallel_blanket,
    property2,
    theorem9,
)
from shuffle_sym.papers.derivations.clones import (
    clones_order,
    delta_infinity,
    eq67,
    eq68,
    lemma11,
    lemma11_b0,
    lemma11_every_cell,
    lemma11_infinite,
    lemma11_origin,
    lemma_b1,
    lemma_b3,
)
from shuffle_sym.papers.derivations.contour import smoothing_lemma, smoothing_sides, smoothing_transforms
from shuffle_sym.papers.derivations.engine import Derivation, Step
from shuffle_sym.papers.derivations.orders import (
    krr_falls_in_k,
    levels_of_compositions,
    rounded_losses,
    standard_clone,
    stronger_clone_generic,
    stronger_clone_monotone,
    three_point_decomposition,
    two_point_decomposition,
)
from shuffle_sym.papers.derivations.printed import compare
from shuffle_sym.papers.derivations.protocols import (
    frequency_estimate,
    optimal_k,
    sum_standard_error,
    sum_unbiased,
    sum_variance,
    sum_worst_case,
    theorem42,
)
from shuffle_sym.papers.derivations.renyi import (
    central_moments,
    claim1,
    eq32,
    eq72,
    lemma61,
    lemma61_tail,
    lemma62,
    odd_moments,
    rdp_moments,
    theorem71,
)
from shuffle_sym.papers.derivations.renyi_curves import corollary32, eq7, poisson_sampling, remark7, theorem36
from shuffle_sym.papers.derivations.tables import gparv_table

#: Every derivation that needs no argument, by name.
ALL: dict[str, Callable[[], Derivation]] = {
    function.__name__: function
    for function in (
        lemma51_krr,
        lemma51_laplace,
        lemma51_gaussian,
        lemma52,
        lemma53,
        lemma54,
        lemma57,
        lemma58,
        lemma_a3,
        laplace_law,
        property2,
        theorem9,
        joint_blanket,
        parallel_blanket,
        idealised_limit,
        two_rr_pair,
        appendix_a,
        theorem10,
        strong_view,
        lemma_b1,
        lemma_b3,
        lemma11,
        lemma11_b0,
        lemma11_origin,
        lemma11_infinite,
        lemma11_every_cell,
        eq67,
        eq68,
        delta_infinity,
        clones_order,
        two_point_decomposition,
        standard_clone,
        three_point_decomposition,
        stronger_clone_monotone,
        stronger_clone_generic,
        krr_falls_in_k,
        rounded_losses,
        levels_of_compositions,
        lemma55,
        lemma56,
        lemma58_all_pairs,
        theorem53,
        second_moment,
        corollary531,
        sum_unbiased,
        sum_variance,
        sum_worst_case,
        sum_standard_error,
        optimal_k,
        theorem42,
        frequency_estimate,
        smoothing_lemma,
        smoothing_sides,
        smoothing_transforms,
        eq32,
        lemma61,
        lemma61_tail,
        lemma62,
        eq72,
        central_moments,
        odd_moments,
        rdp_moments,
        theorem36,
        theorem71,
        remark7,
        poisson_sampling,
        claim1,
        corollary32,
        eq7,
    )
}

__all__ = ["ALL", "Derivation", "Step", "compare", "gparv_table", *ALL]
