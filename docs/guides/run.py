#!/usr/bin/env python3
"""Runs the shell blocks of guides against the running local stack (`cargo xtask up`).

    docs/guides/run.py                   every guide
    docs/guides/run.py uploads imports   these guides
    docs/guides/run.py --list            the blocks, without running them

Blocks that begin with ```sh run, those that begin with ```sh aws do not. All blocks of one guide run in one bash, from the
repository's root. The first command that fails ends the run: its file, line and exit code are printed.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GUIDES = Path(__file__).resolve().parent
ROOT = GUIDES.parent.parent
# On the first line of the script, in place of the guide's title: the line numbers stay those of the guide.
# AT: the line of the command, then those of the functions' callers; the last is in the guide.
PRELUDE = (
    "set -Eeuo pipefail; trap 'CODE=$?; AT=($LINENO ${BASH_LINENO[@]::${#BASH_LINENO[@]}-1}); "
    """echo "$GUIDE:${AT[-1]}: exit code $CODE: $BASH_COMMAND" >&2' ERR"""
)


def blocks(guide: Path) -> list[tuple[int, str, list[str]]]:
    """The fenced blocks: line of the first command, info string, lines."""
    found, info, begun = [], None, []
    for number, line in enumerate(guide.read_text(encoding="utf-8").splitlines(), start=1):
        if info is not None and line.strip() == "```":
            found.append((number - len(begun), info, begun))
            info = None
        elif info is not None:
            begun.append(line)
        elif line.startswith("```"):
            info, begun = line[3:].strip(), []
    if info is not None:
        raise SystemExit(f"{guide}: a fenced block has no end")
    return found


def script(guide: Path) -> str:
    """A script of the guide's local blocks, each command on the line that it has in the guide."""
    lines = [PRELUDE]
    for first, info, commands in blocks(guide):
        if info == "sh":
            lines += [""] * (first - 1 - len(lines)) + commands
    return "\n".join(lines) + "\n"


def run(guide: Path) -> int:
    """Runs a guide and returns the exit code of its bash."""
    name = str(guide.relative_to(ROOT))
    print(f"=== {name}", flush=True)
    began = time.monotonic()
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(script(guide))
        file.flush()
        code = subprocess.run(["env", f"GUIDE={name}", "bash", file.name], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    print(f"\n=== {name}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - began:.0f} s", flush=True)
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
            parser.error(f"there is no guide {guide.stem}")
    if options.list:
        for guide in guides:
            for first, info, commands in blocks(guide):
                print(f"{guide.relative_to(ROOT)}:{first}: {info}")
                print("".join(f"    {command}\n" for command in commands))
        return 0
    return next((code for code in map(run, guides) if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main())
