#!/usr/bin/env python3
"""Checks the Markdown files: every relative link, every linked heading and every path in backticks must exist.

    infra/checks/links.py            lists broken links and paths
    infra/checks/links.py --check    also exits with 1 if there are any

Text in backticks is a path if its first folder is a folder of the repository. Braces, `<…>`, `*` and `…` make it a
pattern, which is not checked.
"""
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(<?([^)<>\s]+)>?\)")
CODE = re.compile(r"`([^`\n]+)`")
PATTERN = re.compile(r"[{}<>*…$]")
# Created by a command, and not committed.
GENERATED = {"fuzz/artifacts"}
# Results of earlier versions of the repository. They are not updated.
RECORDS = {"infra/proof/results.md", "infra/proof/soaks.md", "bench/results.md", "bench/beside.md"}


def slugs(file: Path) -> set[str]:
    """Returns the anchors of a file's headings, as GitHub creates them."""
    heads = re.findall(r"^#+ +(.*)$", FENCE.sub("", file.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def broken(file: Path, tops: set[str]) -> list[str]:
    """Returns a line for each broken link or path of a file."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), file.read_text(encoding="utf-8"))
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        for target in LINK.findall(CODE.sub("", line)):
            path, _, anchor = unquote(target).partition("#")
            to = (file.parent / path) if path else file
            if re.match(r"[a-z]+:|/", target):
                continue
            if not to.exists() or (anchor and to.suffix == ".md" and anchor not in slugs(to)):
                found.append(f"{file.relative_to(ROOT)}:{number}: link {target}")
        for code in CODE.findall(line):
            if "/" in code and " " not in code and code.split("/")[0] in tops and not PATTERN.search(code) and code not in GENERATED:
                if not (ROOT / code).exists():
                    found.append(f"{file.relative_to(ROOT)}:{number}: path {code}")
    return found


def main() -> int:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    tops = {name.split("/")[0] for name in names if "/" in name}
    lines = [line for name in names if name.endswith(".md") and name not in RECORDS for line in broken(ROOT / name, tops)]
    print("\n".join(lines) if lines else "All links and paths exist.")
    return 1 if lines and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
