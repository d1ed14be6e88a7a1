"""The Python server to measure against: an environment with its packages."""
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / ".tools"


def virtual_environment(requirements, say):
    """The Python of an environment with the peer's pinned packages, below .tools/; its client SDK measures, too."""
    venv = TOOLS / "bench-python"
    installed, wanted = venv / "installed-requirements.txt", requirements.read_text()
    if not installed.is_file() or installed.read_text() != wanted:
        say("installing the peer's packages")
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        subprocess.run([sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--quiet",
                        "--disable-pip-version-check", "--requirement", requirements], check=True)
        installed.write_text(wanted)
    return venv / "bin/python"
