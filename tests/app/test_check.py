"""The commands ``alibi-explorer check`` and ``slopes``, and the files that they read."""

import ast
import contextlib
import io
import json
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alibi_core import (
    alibi_slopes,
    causal_alibi_weights,
    causal_mask,
    causal_weights,
    distance_bias,
    key_position_bias,
)
from alibi_explorer import arrays
from alibi_explorer.arrays import array_in, read_array
from alibi_explorer.cli import main

ROOT = Path(__file__).parents[2]
INF = float("inf")
BEFORE = (
    f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'app')!r}]; "
    "from alibi_explorer.cli import main\n"
)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npy_claiming(header, body=b""):
    text = header.encode().ljust(118) + b"\n"
    return np.lib.format.magic(1, 0) + struct.pack("<H", len(text)) + text + body


def npz(**members):
    file = io.BytesIO()
    np.savez(file, **members)
    return file.getvalue()


def tensors(**members):
    return pytest.importorskip("safetensors.numpy").save(members)


def run(capsys, *arguments):
    """The exit code, what was printed, and the error."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


SLOPES = alibi_slopes(12)
WRITTEN = {
    "a.npy": npy(SLOPES),
    "b.npy": npy(SLOPES.astype(">f4")),
    "c.npz": npz(slopes=SLOPES),
    "d.json": json.dumps(SLOPES.tolist()),
    "e.json": json.dumps({"slopes": SLOPES.tolist()}),
    "f.csv": ",".join(map(repr, SLOPES.tolist())),
    "g.csv": "\n".join(map(repr, SLOPES.tolist())),
    "h.txt": " ".join(map(repr, SLOPES.tolist())) + "\n",
    "i.csv": "; ".join(map(repr, SLOPES.tolist())) + "\r\n\r\n",
    "j.txt": repr(tuple(SLOPES.tolist())),
    "k.txt": repr(list(SLOPES)),  # [np.float64(0.5), ...]
    "l.txt": f"torch.tensor({SLOPES.tolist()}, dtype=torch.float64)",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_right_slopes_of_each_kind_of_file(name, file, capsys):
    """Right slopes are right in every kind of file, with exit code 0."""
    path = file(name, WRITTEN[name])
    assert run(capsys, "check", path) == (
        0,
        "slopes: right (reference): the reference schedule of 12\n",
        "",
    )


@pytest.mark.parametrize(
    "text",
    [
        "array([[0., -inf],\n       [-0.5, 0.]])",
        "[[0. -inf]\n [-.5 0.]]",
        "tensor([[0.0000, -inf],\n        [-0.5000, 0.0000]], dtype=torch.float16)",
        "((0, float('-inf')), (-0.5, 0),)",
        "[[0, -np.inf], [-0.5, 0.0]]",
        "[[np.float64(0), np.float64(-inf)], [np.float64(-0.5), np.float64(0.0)]]",
        "[[0, -Infinity], [-0.5, 0]]",
        '[[0, "-inf"], [-0.5, 0]]',
        "0 -inf\n-0.5 0\n",
        "0\t-inf\n-0.5\t0\n",
    ],
)
def test_printed_arrays(text):
    """What Python, NumPy and PyTorch print, and what a spreadsheet copies, is read as it stands."""
    assert array_in(text.encode()).values.tolist() == [[0, -INF], [-0.5, 0]]


@pytest.mark.parametrize(
    ("text", "dtype", "rtol", "atol"),
    [
        ("tensor([0.7071, 0.5000, 0.3536, 0.2500])", None, 0, 5e-5),
        ("[0.70710678 0.5 0.35355339 0.25]", None, 0, 5e-9),
        ("tensor([7.0711e-01, 5.0000e-01, 3.5355e-01, 2.5000e-01])", None, 5e-5, 0),
        ("tensor([0.7070, 0.5000, 0.3535, 0.2500], dtype=torch.float16)", "float16", 0, 5e-5),
        ("array([0.70710677, 0.5, 0.35355338, 0.25], dtype=float32)", "float32", 0, 5e-9),
        ("0.7071,0.5,0.3536,0.25,\n", None, 0, 5e-5),
        (json.dumps(alibi_slopes(4, max_bias=2).tolist()), None, 0, 0),
        ("[0.5, 6.103515625e-05]", None, 0, 0),
        ("[0.7, 0.5]", None, 0, 0),
        ("1 2 3", None, 0, 0),
    ],
)
def test_printed_digits_say_how_far_they_are_off(text, dtype, rtol, atol):
    """Three to nine decimals are rounded, by half of the last; more are the number itself."""
    given = array_in(text.encode())
    assert (given.dtype, given.rtol, given.atol) == (
        dtype,
        pytest.approx(rtol),
        pytest.approx(atol),
    )


def test_printed_arrays_are_right_to_their_digits(file, capsys):
    """Slopes, and weights and their logits, as PyTorch prints them."""
    path = file("a.txt", "tensor([0.7071, 0.5000, 0.3536, 0.2500])")
    code, out, _ = run(capsys, "check", path, "--max-bias", 2)
    assert (code, out) == (
        0,
        "slopes: equivalent (to-tolerance): the reference schedule of 4, to the tolerance of its "
        "digits (atol 5e-05)\n",
    )
    content = np.random.default_rng(0).normal(size=(4, 5, 5))
    weights = causal_alibi_weights(content, alibi_slopes(4))
    written = [
        file(name, json.dumps(np.round(array, 4).tolist()))
        for name, array in (("w.json", weights), ("l.json", content))
    ]
    code, out, _ = run(capsys, "check", written[0], "--logits", written[1])
    assert (code, out[:36]) == (0, "weights: equivalent (to-tolerance): ")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("slopes", ["--masked"], "--masked says nothing of slopes; leave it out"),
        ("slopes", ["--symmetric"], "--symmetric says nothing of slopes"),
        ("slopes", ["--slopes", "0.5"], "--slopes says nothing of slopes"),
        ("slopes", ["--key-positions", "0:4"], "--key-positions says nothing of slopes"),
        ("bias", ["--scale", "0.125"], "--scale says nothing of bias"),
        ("bias", ["--logits-name", "a"], "--logits-name says nothing of bias"),
        ("bias", ["--logits", "FILE", "--masked"], "--masked says nothing of weights"),
    ],
)
def test_options_that_say_nothing_are_refused(name, arguments, words, file, capsys):
    """No option is passed over in silence."""
    array = {"slopes": SLOPES, "bias": distance_bias(SLOPES, 3)}[name]
    path = file("a.npy", npy(array))
    arguments = [path if argument == "FILE" else argument for argument in arguments]
    code, out, error = run(capsys, "check", path, *arguments)
    assert (code, out) == (2, "")
    assert words in error


def test_a_reader_that_has_enough():
    """`slopes 60000 | head -1` ends without a word."""
    code = "sys.exit(main(['slopes', '60000']))"
    with subprocess.Popen(
        [sys.executable, "-c", BEFORE + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert float(process.stdout.readline()) == alibi_slopes(60000)[0]
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_no_standard_output():
    """A command whose standard output is closed ends by its result, without a traceback."""
    done = command("sys.stdout = None; sys.exit(main(['slopes', '4']))")
    assert (done.returncode, done.stderr) == (0, b"")


def test_safetensors(file, capsys):
    """A tensor is chosen by its name; bfloat16 keeps its format."""
    path = file("a.safetensors", tensors(slopes=SLOPES.astype(np.float16), other=SLOPES))
    code, _, error = run(capsys, "check", path)
    assert code == 2
    assert "choose one with --name: " in error
    assert run(capsys, "check", path, "--name", "slopes")[0] == 0
    ml_dtypes = pytest.importorskip("ml_dtypes")
    bits = SLOPES.astype(ml_dtypes.bfloat16)
    header = json.dumps({"x": {"dtype": "BF16", "shape": [12], "data_offsets": [0, 24]}})
    content = struct.pack("<Q", len(header)) + header.encode() + bits.tobytes()
    assert run(capsys, "check", file("b.safetensors", content))[0] == 0
    assert run(capsys, "check", file("c.npy", npy(bits)))[0] == 0


def test_without_safetensors(file, capsys, monkeypatch):
    """Where the library is missing, the command says how to install it."""
    monkeypatch.setitem(sys.modules, "safetensors", None)
    code, _, error = run(capsys, "check", file("a.safetensors", b"\0" * 40))
    assert code == 2
    assert "pip install 'alibi-explorer[safetensors]'" in error


def test_a_wrong_array_ends_with_1(file, capsys):
    """Wrong and unknown arrays end with exit code 1, and are explained."""
    code, out, error = run(capsys, "check", file("a.json", json.dumps([0.3, 0.2, 0.1])))
    assert (code, error) == (1, "")
    assert out.startswith("slopes: unknown: no known form; the nearest is ")
    code, out, _ = run(capsys, "check", file("b.npy", npy(-distance_bias(SLOPES, 4))))
    assert code == 1
    assert out.startswith("bias: wrong (reversed-sign): ")
    assert run(capsys, "check", file("c.npy", npy(key_position_bias(SLOPES, 4))))[0] == 0


def test_json_for_machines(file, capsys):
    """``--json`` prints one object, valid where a number is infinite too."""
    bias = np.where(causal_mask(3), distance_bias([0.5], 3), INF)
    code, out, _ = run(capsys, "check", file("a.npy", npy(bias)), "--slopes", "0.5", "--json")
    found = json.loads(out, parse_constant=pytest.fail)
    assert code == 1
    assert (found["kind"], found["place"], found["got"]) == ("mask-plus-inf", [0, 0, 1], "inf")


def test_options_reach_the_check(file, capsys):
    """Each option of the command is one of the check."""
    part = file("part.npy", npy(alibi_slopes(16, max_bias=4)[4:8]))
    options = ["--num-heads", 16, "--max-bias", 4]
    assert run(capsys, "check", part, *options, "--heads", "4:8")[0] == 0
    assert "wrong-slice" in run(capsys, "check", part, *options, "--heads", "0:4")[1]
    geometric = file("geometric.npy", npy(alibi_slopes(12, schedule="geometric")))
    assert run(capsys, "check", geometric, "--schedule", "geometric")[0] == 0
    at = {"query_positions": range(4, 8), "key_positions": range(4)}
    bias = distance_bias([0.5], **at)
    positions = ["--query-positions", "4:8", "--key-positions", "0,1,2,3", "--slopes", "0.5"]
    chunk = file("chunk.npy", npy(bias[None]))  # a batch of one
    assert run(capsys, "check", chunk, *positions)[0] == 0
    both = file("both.npy", npy(distance_bias(SLOPES, 4, symmetric=True)))
    assert "right (symmetric)" in run(capsys, "check", both, "--symmetric")[1]
    assert "future-not-masked" in run(capsys, "check", both, "--masked")[1]
    row = file("row.json", "[-0.5, -0.25, 0.0]")
    assert run(capsys, "check", row, "--kind", "bias", "--slopes", "0.25")[0] == 0
    rounded = file("rounded.npy", npy(SLOPES.astype(np.float16).astype(float)))
    assert run(capsys, "check", rounded)[0] == 1
    assert run(capsys, "check", rounded, "--dtype", "float16")[0] == 0


def test_weights(file, capsys):
    """With logits the file is attention weights."""
    logits = np.random.default_rng(0).normal(size=(12, 5, 5))
    content = file("logits.npy", npy(logits))
    right = file("right.npy", npy(causal_alibi_weights(logits, SLOPES)[None]))
    plain = file("plain.npy", npy(causal_weights(logits)))
    assert run(capsys, "check", right, "--logits", content)[0] == 0
    assert "(zero)" in run(capsys, "check", plain, "--logits", content)[1]
    code, _, error = run(capsys, "check", "-", "--logits", "-")
    assert (code, "name a file" in error) in ((2, True), (2, False))


@pytest.mark.parametrize("arguments", [["--heads", "8:4"], ["--query-positions", "a"]])
def test_wrong_options(arguments, capsys):
    """An option that cannot be read ends with exit code 2 and an example."""
    with pytest.raises(SystemExit) as stopped:
        main(["check", "a.npy", *arguments])
    assert stopped.value.code == 2
    assert "write 4:8" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["text", "json", "csv"])
@pytest.mark.parametrize("schedule", ["reference", "geometric"])
def test_printed_slopes_read_back(kind, schedule, file, capsys):
    """The printed slopes read back as the same numbers, to the last digit."""
    code, out, _ = run(capsys, "slopes", 40, "--format", kind, "--schedule", schedule)
    assert code == 0
    path = file("a.json" if kind == "json" else "a.csv", out)
    np.testing.assert_array_equal(read_array(str(path)).values, alibi_slopes(40, schedule=schedule))


def test_slopes_of_a_part(capsys):
    """A part of the heads, and another max bias, are those of the core."""
    code, out, _ = run(capsys, "slopes", 6, "--heads", "3:6", "--max-bias", 4, "--format", "json")
    assert code == 0
    assert json.loads(out) == alibi_slopes(6, heads=slice(3, 6), max_bias=4).tolist()
    assert "; " in run(capsys, "slopes", 6, "--heads", "3:7")[2]


def test_slopes_of_code(capsys):
    """For C and for PyTorch the slopes stand in a line to paste, to the last digit."""
    expected = "0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125"
    assert run(capsys, "slopes", 6, "--format", "c")[1] == (
        f"static const double alibi_slopes[6] = {{{expected}}};\n"
    )
    assert run(capsys, "slopes", 6, "--format", "torch")[1] == (
        f"torch.tensor([{expected}], dtype=torch.float64)\n"
    )
    printed = run(capsys, "slopes", 40, "--format", "torch")[1]
    call = ast.parse(printed.strip(), mode="eval").body
    assert ast.unparse(call.func) == "torch.tensor"
    assert ast.literal_eval(call.args[0]) == alibi_slopes(40).tolist()
    printed = run(capsys, "slopes", 40, "--format", "c")[1]
    count, numbers = re.search(r"\[(\d+)\] = \{(.*)\};", printed).groups()
    assert int(count) == 40
    assert [float(number) for number in numbers.split(", ")] == alibi_slopes(40).tolist()
    for heads in (0, 10**9):
        code, out, error = run(capsys, "slopes", heads)
        assert (code, out) == (2, "")
        assert "; " in error


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_c_compiles(tmp_path, capsys):
    """A C compiler reads the same numbers."""
    program = tmp_path / "slopes.c"
    program.write_text(
        run(capsys, "slopes", 40, "--format", "c")[1]
        + "#include <stdio.h>\nint main(void) { for (int head = 0; head < 40; ++head) "
        + 'printf("%.17g\\n", alibi_slopes[head]); }\n'
    )
    subprocess.run(["cc", "-o", tmp_path / "slopes", program], check=True)
    printed = subprocess.run([tmp_path / "slopes"], check=True, capture_output=True).stdout
    assert [float(number) for number in printed.split()] == alibi_slopes(40).tolist()


class Dangerous:
    def __reduce__(self):
        return (print, ("UNPICKLED",))


def bomb():
    """An archive of a few kB that unpacks to more than the limit."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy(np.zeros(2**24 + 1)))
    return file.getvalue()


BAD = {
    "empty.npy": (b"", "is empty"),
    "text.npy": (b"hello", "no .npy array can be read"),
    "cut.npy": (npy(SLOPES)[:-3], "broken or cut off"),
    "long.npy": (npy(SLOPES) + b"\0", "broken or cut off"),
    "huge.npy": (
        npy_claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 10**9), }"),
        "no .npy array",
    ),
    "claim.npy": (
        npy_claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 99), }"),
        "broken or cut off",
    ),
    "minus.npy": (
        npy_claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", b"\0" * 8),
        "broken or cut off",
    ),
    "code.npy": (
        npy_claiming("{'descr': __import__('os').system('id'), 'shape': (1,)}"),
        "no .npy array can be read",
    ),
    "objects.npy": (npy(np.array([Dangerous()]), allow_pickle=True), "not unpickled"),
    "pickle.npy": (pickle.dumps(Dangerous()), "no .npy array can be read"),
    "model.pt": (b"PK", "numpy.save"),
    "pickle.pkl": (pickle.dumps(Dangerous()), "of no known kind"),
    "text.npz": (b"PK hello", "no .npz archive"),
    "none.npz": (npz(), "no array is in it"),
    "two.npz": (npz(a=SLOPES, b=SLOPES), "choose one with --name: 'a', 'b'"),
    "objects.npz": (npz(a=np.array([Dangerous()])), "not unpickled"),
    "bomb.npz": (bomb(), "unpacks to more than 64 MiB"),
    "text.json": (b"hello", "line 1, column 1 is no JSON"),
    "deep.json": (b"[" * 100000, "nested too deeply"),
    "four.json": (b"[[[[1]]]]", "more than 3 axes"),
    "ragged.json": (b"[[1, 2], [3]]", "ragged: 1 entries at [1] in place of 2"),
    "half.json": (b"[[1, 2], [3", "brackets do not match"),
    "more.json": (b"[0.5]]", "brackets do not match"),
    "left.txt": (b"[1. 0.5 ... 0.25]", "left out at '...'"),
    "call.txt": (b"[__import__('os').system('id')]", "is no number"),
    "steep.txt": (b"[[[[[1.]]]]]", "nested too deeply"),
    "mixed.json": (b"[1, [2]]", "ragged: a list stands at [1]"),
    "word.json": (b'[1, "a"]', "'a' at [1] is no number"),
    "true.json": (b"[true]", "True at [0] is no number"),
    "number.json": (b"1", "1 is no list of numbers"),
    "nothing.json": (b"[[], []]", "an empty list is in it"),
    "digits.json": (b"[" + b"1" * 5000 + b"]", "too many digits"),
    "large.json": (b"[" + b"1" * 400 + b"]", "too large for a float"),
    "nan.json": (b"[NaN]", "holds NaN"),
    "infinite.json": (b"[Infinity, 1]", "holds infinity"),
    "bytes.csv": (b"\xff\xfe\x00", "no UTF-8 text"),
    "header.csv": (b"head,slope\n0,0.5\n", "line 1: 'head' is no number"),
    "ragged.csv": (b"1,2\n3\n", "ragged: 1 entries at [1]"),
    "hole.csv": (b"1,,2\n", "'' is no number"),
    "comma.csv": (b"0,5; 0,25\n", "write decimals with a point"),
    "score.csv": (b"0_5, 1\n", "'0_5' is no number"),
    "bool.npy": (
        npy_claiming("{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}", b"\0" * 8),
        "broken or cut off",
    ),
    "pairs.npy": (
        npy_claiming("{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (1,)}", b"\0" * 16),
        "not numbers",
    ),
    "records.npy": (npy(np.zeros(3, [("a", "f4")])), "not numbers"),
    "times.npy": (npy(np.zeros(3, "m8[s]")), "must hold real numbers"),
    "words.npy": (npy(np.array(["a", "b"])), "must hold real numbers"),
    "complex.npy": (npy(SLOPES * 1j), "must hold real numbers"),
    "truth.npy": (npy(np.array([True])), "must hold real numbers"),
    "axes.npy": (npy(np.zeros((2, 2, 2, 2))), "must have shape (head, query, key)"),
    "zero.npy": (npy(np.zeros((0,))), "must have shape (head,)"),
    "none.safetensors": (b"hello", "no tensors can be read"),
    "huge.safetensors": (struct.pack("<Q", 2**60) + b"{}", "no tensors can be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name, file, capsys):
    """Each bad file ends with exit code 2, one line that says what is wrong, and nothing run."""
    if name.endswith("safetensors"):
        pytest.importorskip("safetensors")
    content, words = BAD[name]
    code, out, error = run(capsys, "check", file(name, content))
    assert (code, out) == (2, "")
    assert words in error
    assert error.startswith("alibi-explorer: ")
    assert error.count("\n") == 1


def test_what_is_no_file(tmp_path, capsys):
    """A missing file, a folder and a device that never ends are each said."""
    assert "No such file" in run(capsys, "check", tmp_path / "none.npy")[2]
    (tmp_path / "folder.npy").mkdir()
    assert "Is a directory" in run(capsys, "check", tmp_path / "folder.npy")[2]
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    assert "larger than 64 MiB" in run(capsys, "check", tmp_path / "zero.npy")[2]


def test_long_text_is_refused(file, capsys):
    """A list of numbers takes many times its text, so that its limit is lower."""
    path = file("a.json", b"[" + b"0," * (arrays.TEXT_LIMIT // 2) + b"0]")
    assert "more than 8 MiB of text" in run(capsys, "check", path)[2]


binary = st.binary(max_size=300)
BEGINNINGS = [
    b"",
    np.lib.format.magic(1, 0),
    np.lib.format.magic(2, 0),
    b"PK\x03\x04",
    b"\x40\0\0\0\0\0\0\0{",
    b"[",
    b"tensor([",
    b"[float('",
    b'{"a": [',
    b"1,2\n",
    pickle.dumps(Dangerous()),
]
WHOLE = [
    npy(SLOPES),
    npy(SLOPES.astype(np.float16)[:, None, None]),
    npz(a=SLOPES, b=SLOPES),
    struct.pack("<Q", 62)
    + b'{"a":{"dtype":"F64","shape":[12],"data_offsets":[0,96]}}'.ljust(62)
    + SLOPES.tobytes(),
    json.dumps(SLOPES.tolist()).encode(),
    repr(SLOPES).encode(),
]


@st.composite
def broken(draw):
    """Random bytes behind any beginning, or a good file that is cut or has bytes changed."""
    if draw(st.booleans()):
        return draw(st.sampled_from(BEGINNINGS)) + draw(binary)
    content = bytearray(draw(st.sampled_from(WHOLE)))
    for _ in range(draw(st.integers(0, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.integers(0, len(content)))])


def huge(kind):
    """A header that claims any shape, with little or nothing behind it."""
    side = st.sampled_from([-1, 0, 1, 2, 8, 10**4, 2**31, 2**63, 10**30])
    shapes = st.lists(side, max_size=5).map(tuple)
    types = st.sampled_from(["<f8", "<f2", "|V2", "|O", "|S0", "<U9", "<c16", "<M8[s]"])
    if kind == "npy":
        return st.builds(
            lambda dtype, shape, body: npy_claiming(
                f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}", body
            ),
            types,
            shapes,
            binary,
        )
    return st.builds(
        lambda shape, end, body: (
            (text := json.dumps({"a": {"dtype": "F64", "shape": shape, "data_offsets": [0, end]}}))
            and struct.pack("<Q", len(text)) + text.encode() + body
        ),
        shapes.map(list),
        side,
        binary,
    )


@given(
    st.one_of(
        st.tuples(broken(), st.sampled_from(["", *arrays.ENDINGS])),
        st.tuples(huge("npy"), st.just(".npy")),
        st.tuples(huge("safetensors"), st.just(".safetensors")),
    )
)
@settings(max_examples=500)
def test_readers_bear_anything(case):
    """Whatever the bytes: an array of numbers, or a ValueError with a fix, in little memory.

    Nothing is run: a pickle in it would print.
    """
    content, ending = case
    tracemalloc.start()
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            error = None
            try:
                assert isinstance(array_in(content, ending).values, np.ndarray)
            except ValueError as raised:
                error = str(raised)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert printed.getvalue() == ""
    assert error is None or "; " in error
    assert taken < 2 * 2**20


@given(broken(), st.sampled_from(arrays.ENDINGS))
@settings(max_examples=100)
def test_the_command_bears_anything(tmp_path_factory, content, ending):
    """Whatever the file: a verdict, or exit code 2 and one line with a fix; never a traceback."""
    path = tmp_path_factory.getbasetemp() / f"fuzz{ending}"
    path.write_bytes(content)
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as error,
    ):
        code = main(["check", str(path)])
    if code == 2:
        assert out.getvalue() == ""
        assert re.fullmatch(r"alibi-explorer: .*; .*\n", error.getvalue())
    else:
        assert error.getvalue() == ""
        assert out.getvalue().startswith(("slopes: ", "bias: "))


def command(code, *arguments, **options):
    """Run lines of Python after `main` of the command has been imported."""
    return subprocess.run(
        [sys.executable, "-c", BEFORE + code, *map(str, arguments)], capture_output=True, **options
    )


def test_the_command_reads_standard_input(monkeypatch, capsys):
    """``-`` takes any kind of file, told by how it begins."""

    def checked(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return run(capsys, "check", "-")

    for content in (npy(SLOPES), npz(a=SLOPES), json.dumps(SLOPES.tolist()).encode()):
        code, out, error = checked(content)
        assert (code, error) == (0, "")
        assert out.startswith("slopes: right")
    assert checked(b"1 2 3")[0] == 1
    assert checked(b"") == (
        2,
        "",
        "alibi-explorer: standard input: it is empty; write the array into it first\n",
    )


def test_the_readme(monkeypatch, capsys):
    """The commands of the README print what stands below them."""
    shell = next(
        block
        for block in (ROOT / "README.md").read_text("utf-8").split("```")
        if "$ alibi-explorer slopes" in block
    )
    commands = re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)+)", shell, re.MULTILINE)
    assert len(commands) == 2
    for line, printed in commands:
        said, arguments = re.fullmatch(r'(?:echo "(.*)" \| )?alibi-explorer (.*)', line).groups()
        content = io.BytesIO((said or "").encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
        assert run(capsys, *arguments.split())[1:] == (printed, "")


def test_exit_code_of_the_process(file):
    """The exit code is that of the process, so that a script can ask for it."""
    code = "sys.exit(main(['check', '-']))"
    for content, expected in ((npy(SLOPES), 0), (npy(SLOPES * 2), 1), (b"", 2)):
        done = command(code, input=content)
        assert done.returncode == expected
        assert b"Traceback" not in done.stderr


def test_hostile_files_in_a_small_memory(file):
    """Within 1 GB more than the program itself takes, the worst files are refused in words."""
    names = ("bomb.npz", "claim.npy", "deep.json", "objects.npy", "huge.npy")
    code = """
import resource
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**30,) * 2)
sys.exit(any([main(["check", path]) != 2 for path in sys.argv[1:]]))
"""
    done = command(code, *(file(name, BAD[name][0]) for name in names))
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        assert BAD[name][1] in line
