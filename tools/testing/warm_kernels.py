"""A pytest plugin that gives nbval kernels with large libraries already imported.

Each chapter has its own kernel. There, importing torch, pandas and matplotlib often
takes longer than running the cells of the chapter. This plugin forks the kernels from a
process that has already imported these libraries.
"""

import multiprocessing
import os
import signal
import tempfile
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

import pytest
from jupyter_client.provisioning import local_provisioner

IMPORTS = [
    "tools.testing.warm_kernels",  # contains `serve` and imports pytest
    "attnsel_book",
    "matplotlib.pyplot",
    "scipy.stats",
    "torch._dynamo",  # imported by the first optimizer of `torch.optim`
    "ipykernel.kernelapp",
    "debugpy.server.api",  # a kernel imports this one and the next as it starts
    "sqlite3",
]
forks = multiprocessing.get_context("forkserver")


class Kernel:
    """A forked kernel with the methods of `Popen` that jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(
        self, process: ForkServerProcess, folder: tempfile.TemporaryDirectory[str]
    ) -> None:
        self.process = process
        self.folder = folder
        self.pid = process.pid

    def poll(self) -> int | None:
        """Return the exit status, or None while the kernel runs."""
        return self.process.exitcode

    def wait(self) -> int | None:
        """Wait until the kernel ends, remove its folder, and return its exit status."""
        self.process.join()
        self.folder.cleanup()
        return self.process.exitcode

    def send_signal(self, signum: int) -> None:
        """Send a signal to the kernel, but not to its child processes."""
        assert self.pid is not None
        os.kill(self.pid, signum)

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the kernel."""
        self.send_signal(signal.SIGKILL)


def launch(cmd: list[str], *, env: dict[str, str], **_: Any) -> Kernel:
    """Start a kernel; this function replaces `jupyter_client.launch_kernel`.

    It uses only `env`, and the connection file named in `cmd`. The kernel runs in an
    empty folder, as in `make execute`, and not in the folder of the notebook. Therefore
    `my_attnsel.py` next to the notebook changes no result.
    """
    file = cmd[cmd.index("-f") + 1]
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    here, there = forks.Pipe()
    process = forks.Process(target=serve, args=(file, folder.name, env, there))
    process.start()
    here.recv()
    return Kernel(process, folder)


def serve(file: str, cwd: str, env: dict[str, str], ready: Connection) -> None:
    """Turn this process into a kernel that uses the connection file `file`."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # signals to the kernel's group do not reach the tests
    ready.send(True)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"
    IPKernelApp.launch_instance(argv=["-f", file, parent, "--matplotlib=inline"])


def pytest_configure(config: pytest.Config) -> None:
    """Make jupyter_client start kernels with `launch`, which forks them."""
    forks.set_forkserver_preload(IMPORTS)
    pytest.MonkeyPatch().setattr(local_provisioner, "launch_kernel", launch)
