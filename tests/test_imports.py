"""Imports run one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXPLORER = ROOT / "app" / "alibi_explorer"

# Each module, and the modules of the explorer that it may import.
ARROWS = {
    "arrays": set(),
    "checking": {"arrays"},
    "theme": set(),
    "formatting": set(),
    "snippet": set(),
    "state": set(),
    "heatmaps": {"formatting", "theme"},
    "tables": {"formatting", "heatmaps", "theme"},
    "figures": {"formatting", "heatmaps", "theme"},
    "sections": {"figures", "formatting", "heatmaps", "tables", "theme"},
    "tour": {"formatting"},
    "picture": {"formatting", "sections", "theme"},
    "layout": {
        "arrays",
        "checking",
        "formatting",
        "heatmaps",
        "sections",
        "snippet",
        "state",
        "theme",
        "tour",
    },
    "page": {"checking", "figures", "layout", "sections", "state", "theme"},
    "embed": {"formatting", "layout", "sections", "snippet", "state"},
    "cli": {"arrays", "checking", "embed", "layout", "page", "picture", "snippet", "state"},
    "__init__": {"embed", "page"},
    "__main__": {"cli"},
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def files_of(module: str) -> list[Path]:
    folder = EXPLORER / module
    return list(folder.glob("*.py")) if folder.is_dir() else [EXPLORER / f"{module}.py"]


def test_every_module_has_its_arrows():
    """No module of the explorer is left out of the rule."""
    modules = {path.stem for path in EXPLORER.glob("*.py")} | {"sections"}
    assert modules == set(ARROWS)


@pytest.mark.parametrize("module", ARROWS)
def test_imports_follow_the_arrows(module):
    """A module imports only what stands below it."""
    for path in files_of(module):
        for name in imported(path):
            if name.startswith("alibi_explorer."):
                target = name.split(".")[1]
                assert target == module or target in ARROWS[module], f"{path.name} imports {name}"


def test_sections_take_only_calculations_from_the_core():
    """Sections, tables and formatting lay out a result; they call nothing of the core."""
    allowed = {
        "alibi_core",
        "alibi_core.Calculation",
        "alibi_core.Check",
        "alibi_core.Pair",
        "alibi_core.SlopeSource",
        "alibi_core.practice",
        "alibi_core.practice.QUESTIONS",
        "alibi_core.practice.Answer",
        "alibi_core.practice.Question",
    }
    for module in ("sections", "tables", "formatting", "heatmaps", "theme", "figures"):
        for path in files_of(module):
            used = {name for name in imported(path) if name.split(".")[0] == "alibi_core"}
            assert used <= allowed, path.name


def test_sections_do_not_calculate():
    """No section divides, takes powers or calls NumPy: every step is in the calculation."""
    for path in files_of("sections"):
        tree = ast.parse(path.read_text("utf-8"))
        assert not {name for name in imported(path) if name.split(".")[0] in ("numpy", "math")}
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp):
                assert not isinstance(node.op, (ast.Div, ast.Pow, ast.Mod, ast.FloorDiv)), path.name


def test_the_core_needs_only_numpy():
    """`alibi_core` imports NumPy, the standard library and itself."""
    for path in (ROOT / "alibi_core").glob("*.py"):
        for name in imported(path):
            top = name.split(".")[0]
            assert top in {"alibi_core", "numpy"} or top in sys.stdlib_module_names, path.name


def test_the_core_loads_no_view():
    """Importing `alibi_core` loads neither Panel nor Bokeh."""
    code = (
        "import alibi_core, sys; print(sorted({'panel', 'bokeh', 'param', 'alibi_explorer'} "
        "& set(sys.modules)))"
    )
    run = [sys.executable, "-c", code]
    assert subprocess.run(run, cwd=ROOT, capture_output=True, text=True).stdout.strip() == "[]"


def test_nothing_in_app_hides_a_standard_module():
    """`panel serve app` puts app/ first on sys.path, so its names must be its own."""
    names = {path.stem for path in (ROOT / "app").iterdir()}
    assert not names & sys.stdlib_module_names
