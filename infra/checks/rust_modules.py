"""Parses Rust sources for the measures of style: comments and strings, modules, and dependencies between files."""

import re
from pathlib import PurePosixPath

# Comments, strings and characters.
TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\n]{1,10}?|[^\'\\\n])\'', re.S)


def blank(text):
    """Replaces comments and strings with spaces, so that positions stay the same."""
    return TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def expand(path):
    """Expands `a::{b, c::{d, e}}` to a::b, a::c::d, a::c::e."""
    path = re.sub(r"\s+as\s+\w+", "", path).replace(" ", "").replace("\n", "")
    if "{" not in path:
        return [path]
    head, rest = path.split("{", 1)
    items, depth, item = [], 0, ""
    for char in rest[: rest.rindex("}")]:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            items.append(item)
            item = ""
        else:
            item += char
    return [whole for one in [*items, item] if one for whole in expand(head + one)]


class Crates:
    """Modules of all crates, from their `mod` declarations, and dependencies between files."""

    def __init__(self, sources):
        self.code = {path: self.product(text) for path, text in sources.items()}
        self.children, self.parent = {path: {} for path in sources}, {}
        for path, text in self.code.items():
            for name in re.findall(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", text, re.M):
                here = PurePosixPath(path)
                for folder in (here.parent, here.parent / here.stem):
                    for child in (f"{folder}/{name}.rs", f"{folder}/{name}/mod.rs"):
                        if child in sources and child != path and name not in self.children[path]:
                            self.children[path][name] = child
                            self.parent.setdefault(child, path)
        self.exports = {path: self.uses(text, True) for path, text in self.code.items()}

    @staticmethod
    def product(text):
        return re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+\w+\s*\{", blank(text))[0]

    @staticmethod
    def uses(text, public):
        found = re.findall(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", text, re.M)
        return [path for visible, tree in found if bool(visible) == public for path in expand(tree)]

    def resolve(self, file, path, depth=0):
        """Returns the file of a path, following re-exports, or None for another crate."""
        steps = path.split("::")
        at = file
        if steps[0] == "crate":
            while at in self.parent:
                at = self.parent[at]
        elif steps[0] not in ("self", "super") and steps[0] not in self.children[file]:
            return None
        for number, step in enumerate(steps):
            if step in ("crate", "self"):
                continue
            if step == "super":
                at = self.parent.get(at, at)
            elif step in self.children[at]:
                at = self.children[at][step]
            else:
                for export in self.exports[at] if depth < 5 else ():
                    if export.split("::")[-1] == step:
                        return self.resolve(at, export, depth + 1) or at
                return at
        return at

    def edges(self, file):
        text = self.code[file]
        body = re.sub(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+[^;]+;", "", text, flags=re.M)
        named = re.findall(r"\b(?:crate|super)(?:::\w+)+", body)
        named += [call for call in re.findall(r"(?<![:\w])\w+(?:::\w+)+", body) if call.split("::")[0] in self.children[file]]
        found = {self.resolve(file, path) for path in [*self.uses(text, False), *named]}
        return found - {None, file}

    def cycles(self):
        """Returns the strongly connected components of more than one file."""
        graph = {file: self.edges(file) for file in self.code}

        def reach(start):
            seen, left = set(), [start]
            while left:
                for after in graph[left.pop()] - seen:
                    seen.add(after)
                    left.append(after)
            return seen

        reached = {file: reach(file) for file in graph}
        groups = {frozenset(f for f in reached[file] if file in reached[f]) for file in graph if file in reached[file]}
        return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))
