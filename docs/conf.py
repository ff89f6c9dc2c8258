r"""The documentation as a site: `make docs`.

Notebooks are shown as they were saved, never run. The reference is written from the names that each module offers.
"""

import importlib
import inspect
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

import shuffle_sym  # noqa: E402
from shuffle_sym.model.randomizer import LocalRandomizer  # noqa: E402

project = "shuffle_sym"
author = "The shuffle_sym maintainers"
copyright = "The shuffle_sym maintainers, Apache License 2.0"
version = release = shuffle_sym.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints"]
html_theme = "furo"
html_title = f"shuffle_sym {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"  # that of the theme underlines the names of modules
default_role = "code"
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_typehints_description_target = "all"
autodoc_member_order = "bysource"
suppress_warnings = ["mystnb.unknown_mime_type", "myst.header", "myst.xref_missing"]

#: The modules of the reference: a title, and what they are for.
MODULES = {
    "shuffle_sym": "The names that most people need",
    "shuffle_sym.accounting": "Profiles, rounds, loss distributions",
    "shuffle_sym.accounting.rdp": "Rényi curves of the literature",
    "shuffle_sym.model.decomposition": "Decompositions",
    "shuffle_sym.truth.exact": "Exact values",
    "shuffle_sym.truth.ground_truth": "Brute force over datasets",
    "shuffle_sym.truth.neighbours": "Worst neighbouring datasets",
    "shuffle_sym.protocols": "Protocols",
    "shuffle_sym.protocols.empirical": "Audits from samples",
    "shuffle_sym.papers.bounds": "Closed forms of the literature",
    "shuffle_sym.papers.derivations": "Derivations",
    "shuffle_sym.papers.audit": "What the papers say, examined",
    "shuffle_sym.apps.plots": "Plots",
    "shuffle_sym.apps.explorer": "The explorer",
    "shuffle_sym.apps.catalogue": "Randomizers by name",
}


def offered(module: object) -> list[tuple[str, object]]:
    """The functions and classes of a module's list of names, or those that are defined in it."""
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    names = [name for name in getattr(module, "__all__", own) if not name.startswith("_")]
    return [(name, getattr(module, name)) for name in names if not inspect.ismodule(getattr(module, name))]


def write_reference() -> None:
    """One page for each module."""
    folder = HERE / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    toc = []
    for name, title in MODULES.items():
        module = importlib.import_module(name)
        lines = [title, "=" * 2 * len(title), "", f".. currentmodule:: {name}", "", f"In ``{name}``.", ""]
        for key, value in offered(module):
            # A closed form is an object that is called; of other data the words are shown, not the values.
            kind = "autoclass" if inspect.isclass(value) else "autofunction" if callable(value) else "autodata"
            options = {"autoclass": ["   :members:"], "autodata": ["   :no-value:"]}.get(kind, [])
            lines += [f".. {kind}:: {name}.{key}", *options, ""]
        (folder / f"{name}.rst").write_text("\n".join(lines), encoding="utf-8")
        toc.append(f"   {name}")
    head = ["Reference", "=========", "", "Every public name, with its arguments and what it returns.", ""]
    (folder / "index.rst").write_text("\n".join([*head, ".. toctree::", "", *toc, ""]), encoding="utf-8")


def copy_notebooks() -> None:
    """The notebooks with their saved outputs, and the pictures, beside the pages that show them."""
    for folder in ("notebooks", "gallery"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        shutil.copytree(ROOT / folder, HERE / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))


def signature(_app: object, what: str, _name: str, obj: object, *_: object) -> tuple[str, str] | None:
    """A randomizer is called with the arguments of its own constructor; what checks their names takes any."""
    if what != "class" or not issubclass(obj, LocalRandomizer):
        return None
    parameters = inspect.signature(obj).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)), ""


def setup(app: object) -> None:
    app.connect("autodoc-process-signature", signature)


write_reference()
copy_notebooks()
