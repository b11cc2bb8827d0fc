#!/usr/bin/env python3
"""Holds core and plugins to the rules of the house, prints the rooms, and fails where a rule is broken.

  tests/structure/house.py [--lines]

- No class has more than 25 methods: member functions that its header or its source declares, overloads once each.
- The members of a class are defined in its header and in at most two sources.
- No room (a folder of core or plugins) has more than 20 sources.
- One word is one public type: no two headers of core, plugins, views and app declare types of one name in one namespace.
- Every source has a header of its name in its folder, or is the one second source of a header: foo_part.cpp of foo.h.
  A plugin's entry file (with STRATOSCOPE_... at its end) and main.cpp have none.
- Files are opened by core/io, which checks and limits what comes from outside. Other sources that open one stand in
  opens_files.txt beside this file, each with its reason; a line that is no longer needed is an error.

Needs Universal Ctags. What is known to be left is in house_left.txt beside this file; it may only become shorter: a line
that is no longer needed is an error, too.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT = pathlib.Path(__file__).with_name("house_left.txt")
OPENS = pathlib.Path(__file__).with_name("opens_files.txt")
# What opens a file to read it, or a database; what only writes has O_WRONLY in its call.
OPENING = re.compile(r"\b(?:std::)?(?:ifstream|fstream|filebuf|fopen|freopen|fdopen|openat|mmap|QFile|PyTorchStreamReader)\b"
                     r"|\bSQLite::Database>?\(|\bSQLite::Database\s+\w+\s*[;({]|\bsqlite3_open|(?<!\w)::open\("
                     r"|\b(?:gzopen|gzdopen|zip_open|zip_fdopen|unzOpen|torch::load|LoadFile)\b")
MOST_METHODS, MOST_SOURCES, MOST_FILES = 25, 2, 20
SUFFIXES = {".h", ".cpp", ".cu"}


def sources():
    for folder in ("core", "plugins"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(ROOT)


def tags(paths, kinds, scopes):
    command = ["ctags", "--languages=C++", "--langmap=C++:+.h.cu", f"--kinds-C++={kinds}", "--fields=+sKZ", "--fields=-Z",
               "--output-format=json", "-o", "-", "-L", "-"]
    text = subprocess.run(command, input="\n".join(map(str, paths)), text=True, capture_output=True, check=True,
                          cwd=ROOT).stdout
    for line in text.splitlines():
        tag = json.loads(line)
        if tag.get("scopeKind") in scopes:
            yield tag


def declared_twice():
    """Two types of one name in one namespace would be one to the linker: what a vector of one does, it does to both."""
    headers = [path.relative_to(ROOT) for folder in ("core", "plugins", "views", "app")
               for path in sorted((ROOT / folder).rglob("*.h"))]
    declared = collections.defaultdict(set)
    for tag in tags(headers, "csg", ("namespace",)):
        if "__anon" not in tag["scope"]:
            declared[f"{tag['scope']}::{tag['name']}"].add(tag["path"])
    for name, paths in sorted(declared.items()):
        if len(paths) > 1:
            yield f"type {name}", f"declared in {' and in '.join(sorted(paths))}"


def unqualified(scope):
    return "::".join(part for part in scope.split("::") if part != "strato" and not part.startswith("__anon"))


def classes(paths):
    """(class, the folder that it is in) -> its methods, and the sources that define some."""
    methods, defined = collections.defaultdict(set), collections.defaultdict(set)
    for tag in tags(paths, "fp", ("class", "struct")):
        path = pathlib.PurePosixPath(tag["path"])
        key = (unqualified(tag["scope"]), str(path.parent))
        methods[key].add(tag["name"])
        if tag["kind"] == "function" and path.suffix != ".h":
            defined[key].add(path.name)
    return methods, defined


def is_entry(path):
    return path.name == "main.cpp" or "\nSTRATOSCOPE_" in (ROOT / path).read_text()


def header_of(path, names):
    """The header that leads to a source: of its name, or of the name before one of its underscores."""
    stem = path.stem
    while stem:
        if str(path.with_name(stem + ".h")) in names:
            return stem
        stem = stem.rpartition("_")[0]
    return None


def without_header(paths):
    names = set(map(str, paths))
    seconds = collections.defaultdict(list)
    for path in paths:
        if path.suffix == ".h" or path.with_suffix(".h").as_posix() in names or is_entry(path):
            continue
        header = header_of(path, names)
        seconds[(path.parent, header)].append(path)
    for (_, header), found in sorted(seconds.items(), key=str):
        if header is None or len(found) > 1:
            yield from found


def broken(paths):
    methods, defined = classes(paths)
    for (name, folder), found in sorted(methods.items()):
        if len(found) > MOST_METHODS:
            yield f"class {name} in {folder}", f"{len(found)} methods, at most {MOST_METHODS}"
    for (name, folder), found in sorted(defined.items()):
        if len(found) > MOST_SOURCES:
            yield f"sources of {name} in {folder}", f"{len(found)}, at most {MOST_SOURCES}: {' '.join(sorted(found))}"
    rooms = collections.Counter(path.parent for path in paths)
    for room, count in sorted(rooms.items()):
        if count > MOST_FILES:
            yield f"room {room}", f"{count} files, at most {MOST_FILES}"
    yield from declared_twice()
    yield from unguarded()
    for path in without_header(paths):
        yield f"header {path}", "no header of its name, and not the one second source of one"


def opens_files(text):
    """Does a source open files to read them?"""
    code = re.sub(r"//[^\n]*|^\s*#include[^\n]*", "", text, flags=re.MULTILINE)
    return any("O_WRONLY" not in code[at.start() : code.find(";", at.end())] for at in OPENING.finditer(code))


def opened_elsewhere():
    for folder in ("core", "plugins", "views", "app"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and not path.is_relative_to(ROOT / "core/io") and opens_files(path.read_text()):
                yield path.relative_to(ROOT).as_posix()


def unguarded():
    """Sources that open files, and lines of OPENS that nobody needs."""
    reasons = dict(line.split(": ", 1) for line in OPENS.read_text().splitlines())
    found = set(opened_elsewhere())
    for path in sorted(found - set(reasons)):
        yield f"opens files: {path}", f"read with core/io, or give the reason in {OPENS.name}"
    for path in sorted(set(reasons) - found):
        yield f"opens files: {path}", f"it does not: take its line out of {OPENS.name}"


def print_lines(paths):
    lines = collections.Counter()
    for path in paths:
        lines[path.parent] += len((ROOT / path).read_text().splitlines())
    for room, count in sorted(lines.items()):
        print(f"{count:7} {room}")
    print(f"{sum(lines.values()):7} in {len(lines)} rooms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="store_true", help="print the lines of every room")
    options = parser.parse_args()
    paths = list(sources())
    if options.lines:
        print_lines(paths)
    left = set(LEFT.read_text().splitlines()) if LEFT.exists() else set()
    found = dict(broken(paths))
    for what, why in found.items():
        print(f"{'left' if what in left else 'BROKEN'}: {what}: {why}")
    stale = sorted(left - set(found))
    for what in stale:
        print(f"STALE: {what} is in order now: take its line out of {LEFT.name}")
    return 1 if stale or set(found) - left else 0


if __name__ == "__main__":
    sys.exit(main())
