#!/usr/bin/env python3
"""Runs the shell blocks of guides against the running local stack (`cargo xtask up`).

    docs/guides/run.py                   runs every guide
    docs/guides/run.py uploads imports   runs these guides
    docs/guides/run.py --list            prints the blocks without running them

Blocks with the info string `sh` are run, blocks with `sh aws` are not. All blocks of one guide run in one bash, in the
repository's root. The first failed command ends the run; its file, line and exit code are printed.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GUIDES = Path(__file__).resolve().parent
ROOT = GUIDES.parent.parent
# The first line of the script. It replaces the guide's title, so that script and guide have the same line numbers.
# AT: the line of the failed command, then the lines of the calling functions; the last line is in the guide.
PRELUDE = (
    "set -Eeuo pipefail; trap 'CODE=$?; AT=($LINENO ${BASH_LINENO[@]::${#BASH_LINENO[@]}-1}); "
    """echo "$GUIDE:${AT[-1]}: exit code $CODE: $BASH_COMMAND" >&2' ERR"""
)


def blocks(guide: Path) -> list[tuple[int, str, list[str]]]:
    """Returns the fenced blocks, each as the line number of its first command, its info string and its lines."""
    finished, info, commands = [], None, []
    for number, line in enumerate(guide.read_text(encoding="utf-8").splitlines(), start=1):
        if info is not None and line.strip() == "```":
            finished.append((number - len(commands), info, commands))
            info = None
        elif info is not None:
            commands.append(line)
        elif line.startswith("```"):
            info, commands = line[3:].strip(), []
    if info is not None:
        raise SystemExit(f"{guide}: a fenced block is not closed")
    return finished


def script(guide: Path) -> str:
    """Returns a script with the guide's local blocks. Each command is on the same line as in the guide."""
    lines = [PRELUDE]
    for first, info, commands in blocks(guide):
        if info == "sh":
            lines += [""] * (first - 1 - len(lines)) + commands
    return "\n".join(lines) + "\n"


def run(guide: Path) -> int:
    """Runs a guide. Returns the exit code of bash."""
    name = str(guide.relative_to(ROOT))
    started = time.monotonic()
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(script(guide))
        file.flush()
        # The tools of the stack, such as the AWS CLI, are beside the Python that runs this file.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = ["env", f"GUIDE={name}", f"PATH={path}", "bash", file.name]
        print(f"=== {name}", flush=True)
        code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    print(f"\n=== {name}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s", flush=True)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the shell blocks of guides against the running local stack.")
    parser.add_argument("--list", action="store_true", help="print the blocks and run nothing")
    parser.add_argument("guides", nargs="*", metavar="GUIDE", help="names such as uploads [default: all]")
    options = parser.parse_args()
    names = [Path(name).stem for name in options.guides]
    guides = [GUIDES / f"{name}.md" for name in names] or sorted(GUIDES.glob("*.md"))
    for guide in guides:
        if not guide.is_file():
            existing = ", ".join(sorted(path.stem for path in GUIDES.glob("*.md")))
            parser.error(f"guide {guide.stem} does not exist; choose from {existing}")
    if options.list:
        for guide in guides:
            for first, info, commands in blocks(guide):
                print(f"{guide.relative_to(ROOT)}:{first}: {info}")
                print("".join(f"    {command}\n" for command in commands))
        return 0
    return next((code for code in map(run, guides) if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main())
