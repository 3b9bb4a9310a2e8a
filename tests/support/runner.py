"""A machine like Colab's for one chapter, with Colab's packages and a kernel."""

import json
import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from tools.site.colab import ADDRESS, ROOT

COLAB = ROOT / "_build" / "colab-env"  # `make test-runner` builds it
SITE = Path("lib", f"python3.{sys.version_info.minor}", "site-packages")
NOWHERE = "http://127.0.0.1:9"
# Settings of whoever runs the tests that a new Colab session does not have.
STRANGE = ("ATTNSEL_", "HF_", "PYTHON", "VIRTUAL_ENV", "XDG_", "JUPYTER", "IPYTHON")


def snapshot(path: Path) -> Path:
    """Write the working tree to a bare repository with one commit; return its path.

    Therefore uncommitted changes and shallow clones can be tested.
    """
    git = ["git", f"--git-dir={path}", f"--work-tree={ROOT}"]
    who = ["-c", "user.name=runner", "-c", "user.email=runner@localhost"]
    subprocess.run(["git", "init", "--quiet", "--bare", path], check=True)
    subprocess.run([*git, "config", "uploadpack.allowFilter", "true"], check=True)
    subprocess.run([*git, "add", "--all"], check=True, cwd=ROOT)
    commit = [*git, *who, "commit", "--quiet", "--message=The working tree"]
    subprocess.run(commit, check=True, cwd=ROOT)
    return path


def packages(environment: Path) -> dict[str, str]:
    """Return the version of each package in an environment."""
    installed = metadata.distributions(path=[str(environment / SITE)])
    return {d.metadata["Name"].lower(): d.version for d in installed}


class Session:
    """A new session: Colab's packages, an empty home, an empty working folder.

    New packages are installed into the session's own environment, on top of the one
    that all sessions share. The repository's address leads to a local snapshot.
    """

    def __init__(self, folder: Path, snapshot: Path) -> None:
        if not (COLAB / ".ready").is_file():
            raise FileNotFoundError(f"{COLAB} is not built; run `make test-runner`")
        self.environment = folder / "environment"
        venv.create(self.environment, symlinks=True)
        self.python = self.environment / "bin" / "python"
        (self.environment / SITE / "colab.pth").write_text(f"{COLAB / SITE}\n")
        self.folder, home = folder / "content", folder / "home"
        self.folder.mkdir()
        home.mkdir()
        self.log = folder / "pip.log"
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(STRANGE)}
        self.env = inherited | {
            "HOME": str(home),
            "OMP_NUM_THREADS": "1",  # sessions run beside one another
            "HF_ENDPOINT": NOWHERE,
            "PIP_LOG": str(self.log),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{snapshot}.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://github.com/{ADDRESS}",
        }
        kernel = folder / "kernels" / "colab"
        kernel.mkdir(parents=True)
        command = [str(self.python), "-m", "ipykernel_launcher", "-f"]
        about = {"argv": [*command, "{connection_file}"], "display_name": "Colab"}
        (kernel / "kernel.json").write_text(json.dumps(about | {"language": "python"}))
        self.kernels = {
            "kernel_name": "colab",
            "kernel_spec_manager": KernelSpecManager(
                kernel_dirs=[str(kernel.parent)], ensure_native_kernel=False
            ),
        }
