"""The command ``alibi-explorer``."""

import socket

import pytest

from alibi_explorer.cli import main


@pytest.mark.parametrize("port", ["abc", "-1", "65536", "1.5"])
def test_a_wrong_port_is_refused(port, capsys):
    """What is no port ends with exit code 2 and the range."""
    with pytest.raises(SystemExit) as stopped:
        main(["serve", f"--port={port}"])
    assert stopped.value.code == 2
    assert f"'{port}' is not a port; choose 0 to 65535" in capsys.readouterr().err


def test_a_port_in_use_names_the_fix(capsys):
    """A port that another program holds is said, with what to do, and no traceback."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        assert main(["serve", "--address", "127.0.0.1", "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1:{port}" in error
    assert "choose another port with --port" in error


def test_a_command_is_needed(capsys):
    """Without a command the usage is shown."""
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "usage: alibi-explorer" in capsys.readouterr().err
