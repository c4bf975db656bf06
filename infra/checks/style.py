#!/usr/bin/env python3
"""Measures how the tracked code and texts read; see `--help`.

`--check` fails if too many doc comments open with a question word or a pronoun, or if a retired word is in use.
The other measures are for a table, to compare two commits.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

from rust_modules import TEXTS, Crates, blank

OPENINGS_LIMIT_PERCENT = 3.0
OPENING = re.compile(r"(what|who|whose|whether|how|where|when|it|its|that)\b", re.I)

# Retired wherever they occur: identifiers, comments, messages, documents. A phrase's words may be joined in any way.
EVERYWHERE = """gate gates | slot slots | waiting room | front door | refile refiles refiled refiling | rerun reruns
    | letter letters | wish wishes wished | weather | dice | fate fates | insist insists
    | mend mends mended mending"""
# Retired as names only: in plain sentences they mean what they always do.
NAMES = """settled | put back | call in | by hand | offered | opening | standing | pressure | backlog
    | told | said | figures | hear | tell"""
NAMES_EXACT = {"Filed", "Held"}
# The same letters with another meaning, and names on disk.
NOT_RETIRED = re.compile(
    r"""(?:GATE|SLOT|LETTER)\# | `refiled` | letter-spacing
    | dead[\s_-]*letters? | (?:small|capital|lower[- ]?case|upper[- ]?case|first|ascii)\s+letters?
    | letters?(?:,|\s(?:and|or|nor))\s+(?:\w+\s+and\s+)?(?:digits?|numbers?|hyphens?)
    | digits?(?:,|\s(?:and|or|nor))\s+letters? | back[\s-]pressure""",
    re.I | re.X,
)
# Records of the past, texts of others, generated files, and the list of the words itself.
UNREAD = """LICENSE-* CHANGELOG.md examples/data/* web/client/src/openapi.ts docs/openapi.json docs/api/page.html *.lock *package-lock.json
    *requirements.txt *fuzz/corpus/* *proof/corpus/* *proptest-regressions/* *results.md infra/proof/soaks.md
    *style-before.txt infra/checks/style.py docs/glossary.md docs/decisions/0029-* shared/shapes/*""".split()

CODE = {".rs", ".ts", ".tsx", ".js", ".mjs", ".py", ".sh", ".css", ".html", ".yaml", ".yml"}
PRODUCT = "shared/src/* shared/domain/src/* functions/*/src/* web/*/src/* cli/src/* cli/deployment/src/* template.yaml".split()
TOOLING = "xtask/* infra/* tools/* bench/* cli/*".split()
TESTS = "tests/* fuzz/* shared/testing/* *.test.ts *.test.tsx *_tests.rs *tests.rs */tests/* */test/*".split()

SCRIPT = re.compile(r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def matches(path, patterns):
    return any(fnmatch(path, pattern) for pattern in patterns)


def parts(identifier):
    return [part.lower() for part in PARTS.findall(identifier)]


def phrases(text):
    """The words of a list above, as tuples of parts."""
    two = {"waiting room", "front door", "put back", "call in", "by hand"}
    return {phrase for group in map(str.split, text.split("|")) for phrase in
            ([tuple(group)] if " ".join(group) in two else [(word,) for word in group])}


def wire_names(root):
    """Names of the HTTP API, which stay: properties, values, paths. Compared without regard to their case style."""
    document, names = json.loads((root / "docs/openapi.json").read_text()), set()

    def walk(value, key=""):
        if isinstance(value, dict):
            for name, member in value.items():
                names.update(re.split(r"[/{}]+", name))
                walk(member, name)
        elif isinstance(value, list):
            for member in value:
                walk(member, key)
        elif isinstance(value, str) and key not in ("description", "summary") and " " not in value:
            names.update(re.split(r"[/{}#]+", value))

    walk(document)
    return {tuple(parts(name)) for name in names}


def contains(words, phrase):
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words) - len(phrase) + 1))


class Words:
    def __init__(self, root):
        self.everywhere, self.names, self.wire = phrases(EVERYWHERE), phrases(NAMES), wire_names(root)
        self.apart = [(phrase, re.compile(r"\b" + "[ -]".join(phrase) + r"s?\b", re.I))
                      for phrase in self.everywhere if len(phrase) > 1]
        self.of = cache(self.of)

    def of(self, token, is_name):
        """The retired words in one identifier or word."""
        words = parts(token)
        if tuple(words) in self.wire:
            return []
        # The name of a test is a sentence.
        listed = self.names if (is_name or len(words) > 1) and len(words) <= 4 else ()
        found = [" ".join(phrase) for phrase in [*self.everywhere, *listed] if contains(words, phrase)]
        return found + [token] if is_name and token in NAMES_EXACT else found

    def find(self, text, is_name):
        """Yields position and phrase of each retired word. `is_name`: the text is code, not sentences."""
        text = NOT_RETIRED.sub(lambda found: " " * len(found[0]), text)
        for found in re.finditer(r"[A-Za-z_][A-Za-z0-9_]*", text):
            yield from ((found.start(), phrase) for phrase in self.of(found[0], is_name))
        for phrase, pattern in () if is_name else self.apart:
            yield from ((found.start(), " ".join(phrase)) for found in pattern.finditer(text))


def pieces(path, text):
    """Splits a file into code and sentences: (offset, text, is code). Strings without a space are data, and left out."""
    grammar = TEXTS if path.endswith(".rs") else SCRIPT if path.endswith((".ts", ".tsx", ".js", ".mjs")) else None
    if grammar is None:
        yield 0, text, False
        return
    at = 0
    for found in grammar.finditer(text):
        yield at, text[at : found.start()], True
        is_comment = found[0].startswith(("//", "/*"))
        # Expressions of DynamoDB name attributes, which stay.
        is_expression = re.search(r"= ?:|\bSET \b|\w\(#|#\w+ |FROM \\?\"", found[0])
        if is_comment or (" " in found[0] and not is_expression):
            yield found.start(), found[0], False
        at = found.end()
    yield at, text[at:], True


def retired(root, files):
    words, found = Words(root), []
    for path, text in files.items():
        if matches(path, UNREAD):
            continue
        found += ((path, 0, phrase) for _, phrase in words.find(path.replace("/", " "), True))
        for offset, piece, is_code in pieces(path, text):
            for at, phrase in words.find(piece, is_code):
                found.append((path, text.count("\n", 0, offset + at) + 1, phrase))
    return sorted(set(found))


def doc_openings(files):
    """First lines of doc comments, and those that open badly."""
    blocks, bad = 0, []
    for path, text in files.items():
        before = ""
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if line.startswith("///") and not before.startswith("///"):
                blocks += 1
                if OPENING.match(line[3:].strip()):
                    bad.append((path, number, line[3:].strip()))
            before = line
    return blocks, bad


def functions(text):
    """Lines of each function that has a body."""
    for found in re.finditer(r"\bfn\s+\w+", text):
        depth, at = 0, found.end()
        while at < len(text) and not (depth == 0 and text[at] in "{;"):
            depth += (text[at] in "([") - (text[at] in ")]")
            at += 1
        if at == len(text) or text[at] == ";":
            continue
        start, depth = at, 0
        while at < len(text):
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
            if depth == 0:
                break
        yield text.count("\n", found.start(), at) + 1


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def measure(root):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True).stdout
    names = [name for name in names.split("\0") if name and (root / name).is_file()]
    files = {}
    for name in names:
        if not fnmatch(name, "*fuzz/corpus/*"):
            with suppress(UnicodeDecodeError):
                files[name] = (root / name).read_text()
    rust = {name: text for name, text in files.items() if name.endswith(".rs")}
    lines = {name: text.count("\n") for name, text in files.items() if PurePosixPath(name).suffix in CODE}
    group = {name: "tests" if matches(name, TESTS) and not matches(name, TOOLING) else "product"
             if matches(name, PRODUCT) else "tooling" if matches(name, TOOLING) else "other" for name in lines}
    lengths = [length for text in rust.values() for length in functions(blank(text))]
    rust_lines = [lines[name] for name in rust]
    blocks, bad = doc_openings(rust)
    words, cycles = retired(root, files), Crates(rust).cycles()
    maps = [name for name in rust if name.endswith(("/mod.rs", "/lib.rs")) and lines[name] > 60]
    table = {
        "doc comments": blocks,
        "doc comments that open with what, who, it, …": len(bad),
        "  in percent (limit 3)": round(100 * len(bad) / max(blocks, 1), 1),
        "retired words": len(words),
        "Rust files": len(rust),
        "Rust file, median lines": int(statistics.median(rust_lines)),
        "Rust file, p90 lines": quantile(rust_lines, 0.9),
        "Rust file, most lines": max(rust_lines),
        "Rust files over 300 lines": sum(count > 300 for count in rust_lines),
        "functions": len(lengths),
        "function, median lines": int(statistics.median(lengths)),
        "function, p90 lines": quantile(lengths, 0.9),
        "functions over 40 lines": sum(length > 40 for length in lengths),
        "mod.rs and lib.rs over 60 lines": len(maps),
        "cycles between files of a crate": len(cycles),
        "  files in them": sum(map(len, cycles)),
        **{f"lines of {kind}": sum(lines[name] for name in lines if group[name] == kind)
           for kind in ("product", "tests", "tooling")},
        "bytes of README.md": (root / "README.md").stat().st_size,
        "tracked files": len(names),
    }
    return {"table": table, "openings": bad, "retired": words, "maps": maps, "cycles": cycles}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="list what breaks a rule, and exit 1 if anything does")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    options = parser.parse_args()
    found = measure(Path(__file__).resolve().parents[2])
    if options.json:
        print(json.dumps(found, indent=1))
    elif options.check:
        too_many = found["table"]["  in percent (limit 3)"] > OPENINGS_LIMIT_PERCENT
        listed = [f"{path}:{line}: opens with {text!r}" for path, line, text in found["openings"] if too_many]
        listed += [f"{path}:{line}: retired word: {word}" for path, line, word in found["retired"]]
        print("\n".join(listed) or "Style: no retired word, and doc comments open as they should.")
        return 1 if listed else 0
    else:
        for name, value in found["table"].items():
            print(f"{name:<48}{value:>9}")
        print("\nRetired words: " + ", ".join(f"{w} {n}" for w, n in Counter(w for *_, w in found["retired"]).most_common()))
        print("\nCycles:\n" + "\n".join("  " + ", ".join(group) for group in found["cycles"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
