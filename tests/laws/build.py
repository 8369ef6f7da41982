#!/usr/bin/python3
"""What the library's objects have and what their compilation read, against ceilings.

Seconds of a build differ from hour to hour. These numbers are the same on every machine with the same compiler and
libraries, so that growth is seen in the change that brings it. Above its ceiling a number fails; where it is 2 % below,
the ceiling is to be lowered with it. docs/contributing.md says how one is changed.

Numbers belong to one compiler and to one way to build: the README's on Debian 12. For any other build the script says so
and ends with 77, which ctest takes for a skipped test.

usage: build.py BUILD        the folder of a build
       build.py --self-test  shows on small data that each number sees what is more
"""
import collections
import pathlib
import re
import subprocess
import sys

KB = 1000  # bytes

# The one place to change them: in kB, but for the last.
CEILINGS = {
    "code": 8000,
    "repeated": 1350,
    "headers": 6910,
    "annexes": 0,
}

# What each is, and what it keeps.
LAWS = {
    "code": "machine code in the objects of the library, because most of the time of a build goes into generating it",
    "repeated": "weak functions that objects generate again which another has, because the linker throws them away: "
                "templates and inline functions of headers that many include",
    "headers": "headers of src/ that compilations of the library read, without those precompiled, because each of them "
               "is parsed again in every batch that includes it",
    "annexes": "symbols of annexes that the house lacks without them, because an annex is left out with its row in "
               "src/annexes.cpp: only that file may need one",
}
UNITS = {"code": KB, "repeated": KB, "headers": KB, "annexes": 1}

SLACK = 0.02  # so far below the ceiling a number may be


class Skip(Exception):
    """Why this build has other numbers."""


# --- what is measured

def sections_with_code(table):
    """The bytes of code in each object, of what `size --format=gnu` prints: without tables and constants."""
    code = {}
    for line in table.splitlines()[1:]:
        text, _, _, _, path = line.split(None, 4)
        code[path] = int(text)
    return code


def weak_functions(table):
    """Rows of (object, function, bytes), of what `nm --print-file-name --print-size` prints."""
    rows = []
    for line in table.splitlines():
        path, symbol = line.rsplit(":", 1)
        words = symbol.split()
        if len(words) == 4 and words[2] == "W":
            rows.append((path, words[3], int(words[1], 16)))
    return rows


def repeated(rows):
    """The bytes of those beyond the first of each name, by object, and by name."""
    seen, by_object, by_name = set(), collections.Counter(), collections.Counter()
    for path, name, size in rows:
        if name in seen:
            by_object[path] += size
            by_name[name] += size
        seen.add(name)
    return by_object, by_name


def headers_read(table, objects, sources, size_of):
    """The bytes of headers below a folder of sources that the compilation of each object read, of what `ninja -t deps`
    prints. A header that was precompiled does not stand there."""
    read, current = collections.Counter(), None
    for line in table.splitlines():
        if line and not line.startswith(" "):
            current = line.split(": #deps", 1)[0]
        elif current in objects and line.strip().startswith(sources) and line.endswith((".hpp", ".def")):
            read[current] += size_of(line.strip())
    return read


def is_of_annex(path, annex):
    """An annex is a folder, whose objects are its batches or its files."""
    return f"/unity_{annex}_" in path or f"/src/{annex}/" in path


def symbols_lacked(table, annexes):
    """Of what `nm --print-file-name` prints: how many symbols each object of the house lacks that only objects of
    annexes define."""
    def is_annexed(path):
        return any(is_of_annex(path, annex) for annex in annexes)

    defined, lacked = {True: set(), False: set()}, collections.defaultdict(set)
    for line in table.splitlines():
        path, symbol = line.rsplit(":", 1)
        *_, kind, name = symbol.split()
        if kind not in "Uw":
            defined[is_annexed(path)].add(name)
        elif not is_annexed(path) and not path.endswith("/annexes.cpp.o"):
            lacked[path].add(name)
    only_annexed = defined[True] - defined[False]
    return {path: len(names & only_annexed) for path, names in lacked.items()}


def in_units(number, name):
    """Rounded up, with the unit."""
    count = -(-number // UNITS[name])
    return count, f"{count} kB" if UNITS[name] == KB else str(count)


def verdict(number, name, ceiling):
    """What is wrong with a number of bytes or symbols for a ceiling in the units of its law; nothing: it is within it."""
    count, told = in_units(number, name)
    if count > ceiling:
        return f"{told}, above the ceiling of {ceiling} in tests/laws/build.py"
    if count < ceiling * (1 - SLACK):
        return f"{told}, below the ceiling of {ceiling} in tests/laws/build.py: lower it to {count}"
    return ""


# --- the build

def output_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout


def cache_of(build):
    rows = re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return dict(rows)


def require_usual_build(build, cache):
    """Raises Skip for a build whose numbers are others."""
    if cache.get("CMAKE_GENERATOR") != "Ninja":
        raise Skip("they are read from a build by Ninja")
    is_off = ("", "OFF", "0", "NO", "FALSE")
    wrong = [name for name in ("ATTN_SANITIZE", "ATTN_FUZZ", "ATTN_FETCH", "ATTN_TESTS_OF",
                               "CMAKE_DISABLE_PRECOMPILE_HEADERS", "CMAKE_CXX_FLAGS", "CMAKE_INTERPROCEDURAL_OPTIMIZATION")
             if cache.get(name, "").upper() not in is_off]
    if cache.get("ATTN_BATCHES") != "ON":
        wrong.append("ATTN_BATCHES")
    if cache.get("CMAKE_BUILD_TYPE", "") not in ("", "Release"):
        wrong.append("CMAKE_BUILD_TYPE")
    if wrong:
        raise Skip(f"they are those of the README's build, and this one has another {wrong[0]}")
    said = "".join(path.read_text() for name in ("CMakeCXXCompiler.cmake", "CMakeSystem.cmake")
                   for path in (build / "CMakeFiles").glob(f"*/{name}"))
    is_it = {key: value for key, value in re.findall(r'set\((CMAKE_[A-Z_]+) "([^"]*)"\)', said)}
    compiler, version = is_it.get("CMAKE_CXX_COMPILER_ID"), is_it.get("CMAKE_CXX_COMPILER_VERSION", "")
    if compiler != "GNU" or not version.startswith("12."):
        raise Skip(f"they are those of GNU 12, and this build is by {compiler} {version}")
    if is_it.get("CMAKE_SYSTEM_PROCESSOR") != "x86_64":
        raise Skip(f"they are those of x86_64, and this build is for {is_it.get('CMAKE_SYSTEM_PROCESSOR')}")


def objects_of(build, cache):
    """The objects of the library and those that the program is linked from beside it, as the build names them."""
    found = set()
    for target in ("libattn_core.a", "attn"):
        queried = output_of(cache["CMAKE_MAKE_PROGRAM"], "-n", "-C", str(build), "-t", "query", target)
        found |= set(re.findall(r"^    (\S+[.]o)$", queried.split("outputs:")[0], re.M))
    return sorted(found)


def measured(build):
    """The bytes of each law, with where most of them are."""
    cache = cache_of(build)
    require_usual_build(build, cache)
    objects = objects_of(build, cache)
    # Ninja may not write here (-n): another one may be at work.
    deps = output_of(cache["CMAKE_MAKE_PROGRAM"], "-n", "-C", str(build), "-t", "deps")
    sources = cache["CMAKE_HOME_DIRECTORY"] + "/src/"
    sizes = {}

    def size_of(path):
        if path not in sizes:
            sizes[path] = pathlib.Path(path).stat().st_size
        return sizes[path]

    headers = headers_read(deps, set(objects), sources, size_of)
    # What is compiled in is texts, and changes with lessons.
    paths = [str(build / one) for one in objects if not one.endswith("compiled_in.cpp.o")]
    missing = [path for path in paths if not pathlib.Path(path).exists()]
    if missing:
        sys.exit(f"{missing[0]} is missing: build the library first")
    nm = cache["CMAKE_NM"]
    code = sections_with_code(output_of(re.sub(r"nm$", "size", nm), "--format=gnu", *paths))
    weak = weak_functions(output_of(nm, "--print-file-name", "--print-size", "--defined-only", *paths))
    by_object, _ = repeated(weak)
    annexes = re.findall(r"&(\w+)_annex\b", pathlib.Path(sources, "annexes.cpp").read_text())
    if not annexes:
        sys.exit("src/annexes.cpp lists no annex, or in another way than before")
    for annex in annexes:
        if not any(is_of_annex(path, annex) for path in paths):
            sys.exit(f"no object of this build is known as one of src/{annex}: say in tests/laws/build.py how they are called")
    lacked = symbols_lacked(output_of(nm, "--print-file-name", *paths), annexes)
    return {"code": code, "repeated": by_object, "headers": headers, "annexes": lacked}


def main(build):
    try:
        numbers = measured(build)
    except Skip as why:
        print(f"skipped: the numbers of this law belong to one build: {why}")
        sys.exit(77)
    is_wrong = False
    for name, by_object in numbers.items():
        number = sum(by_object.values())
        print(f"{name}: {in_units(number, name)[1]}, at most {CEILINGS[name]}")
        wrong = verdict(number, name, CEILINGS[name])
        if wrong:
            is_wrong = True
            most = sorted(by_object, key=by_object.get, reverse=True)[:5]
            told = ", ".join(f"{pathlib.Path(path).name} ({in_units(by_object[path], name)[1]})" for path in most)
            print(f"{LAWS[name]}: {wrong}; most is in {told}", file=sys.stderr)
    sys.exit(1 if is_wrong else 0)


# --- that each number sees what is more

def self_test():
    head = "      text       data        bss      total filename\n"
    rows = "       100         20          0        120 a.o\n", "        50        900          0        950 b of it.o\n"
    assert sections_with_code(head + rows[0]) == {"a.o": 100}
    assert sections_with_code(head + "".join(rows)) == {"a.o": 100, "b of it.o": 50}

    names = "a.o:0000 0010 W _Zf\na.o:0000 0020 W _Zg\na.o:0000 0400 T main\nb.o:0000 0040 V _ZTI1A\nb.o:     U _Zf\n"
    assert sum(repeated(weak_functions(names))[0].values()) == 0
    again = repeated(weak_functions(names + "b.o:0000 0011 W _Zf\nb.o:0000 0040 V _ZTI1A\n"))
    assert again == ({"b.o": 17}, {"_Zf": 17})

    deps = ("x.o: #deps 3, deps mtime 1 (VALID)\n    /s/src/a.cpp\n    /s/src/a.hpp\n    /usr/include/c++/12/vector\n\n"
            "tests.o: #deps 1, deps mtime 1 (VALID)\n    /s/src/a.hpp\n\n"
            "y.o: #deps 1, deps mtime 1 (VALID)\n    /s/src/y.cpp\n")
    sizes = {"/s/src/a.hpp": 7, "/s/src/b.def": 5}
    assert headers_read(deps, {"x.o", "y.o"}, "/s/src/", sizes.get) == {"x.o": 7}
    more = headers_read(deps + "    /s/src/a.hpp\n    /s/src/b.def\n", {"x.o", "y.o"}, "/s/src/", sizes.get)
    assert more == {"x.o": 7, "y.o": 12}

    house = "/b/unity_core_0.o:0000 T f\n/b/unity_core_0.o:     U g\n/b/unity_apart_0.o:0000 T g\n/b/unity_apart_0.o:0000 W h\n"
    table = "/b/src/annexes.cpp.o:     U k\n/b/unity_apart_0.o:0000 D k\n/b/unity_page_0.o:0000 W h\n/b/unity_page_0.o:     U f\n"
    assert sum(symbols_lacked(table, ["apart"]).values()) == 0
    assert symbols_lacked(house + table, ["apart"]) == {"/b/unity_core_0.o": 1, "/b/unity_page_0.o": 0}

    assert verdict(100_000, "code", 100) == "" and verdict(98_000, "code", 100) == ""
    assert verdict(100_001, "code", 100).startswith("101 kB, above the ceiling of 100 ")
    assert verdict(97_000, "code", 100).endswith(": lower it to 97")
    assert verdict(0, "annexes", 0) == "" and verdict(1, "annexes", 0).startswith("1, above")
    assert set(CEILINGS) == set(LAWS) == set(UNITS)
    print("each law of the build sees what is more")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        self_test()
    else:
        main(pathlib.Path(sys.argv[1]).resolve())
