"""The files of the project, and what is code, comment and string literal in them."""

import re
import subprocess
from pathlib import Path

# Numbers come first because of the apostrophes in them.
_TOKEN = re.compile(
    r"""(?P<number>\b[0-9][0-9a-zA-Z.']*)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\((?P<text>.*?)\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.S | re.X,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"\n]+[>"])', re.M)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


class Source:
    """One C++ file. `code` has comments and literals blanked out, at their old places."""

    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="surrogateescape")
        self.includes = [(self.line_of(m.start()), m.group(1)) for m in _INCLUDE.finditer(self.text)]
        self.strings = []  # (line, text); neighbours with nothing between them are one
        self.comments = {}  # line -> text
        code = []
        end = string_end = 0
        for token in _TOKEN.finditer(self.text):
            code.append(self.text[end:token.start()])
            kind = token.lastgroup if token.lastgroup not in ("mark", "text") else "raw"
            if kind == "number":
                code.append(token.group())
            else:
                code.append(_blank(token.group()))
            if kind in ("raw", "string"):
                text = token.group("text") if kind == "raw" else token.group()[1:-1]
                between = self.text[string_end:token.start()]
                if self.strings and not between.strip():
                    line, before = self.strings.pop()
                    self.strings.append((line, before + text))
                else:
                    self.strings.append((self.line_of(token.start()), text))
                string_end = token.end()
            if kind == "comment":
                first = self.line_of(token.start())
                for offset, line in enumerate(token.group().split("\n")):
                    self.comments[first + offset] = line
            end = token.end()
        code.append(self.text[end:])
        self.code = "".join(code)

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    def matches(self, pattern):
        """Where a pattern stands in the code: (line, match)."""
        return [(self.line_of(m.start()), m) for m in re.finditer(pattern, self.code)]


class Tree:
    """The project below `root`. `sources` names a file with what the build compiles, or None."""

    CODE = (".cpp", ".hpp")

    def __init__(self, root, sources=None):
        self.root = Path(root)
        self._sources = sources
        self._read = {}

    def paths(self, *folders, ends=CODE):
        found = []
        for folder in folders:
            base = self.root / folder
            found += [p for p in base.rglob("*") if p.is_file() and p.name.endswith(tuple(ends))]
        return sorted(found)

    def cpp(self, *folders, ends=CODE):
        for path in self.paths(*folders, ends=ends):
            if path not in self._read:
                self._read[path] = Source(self.root, path)
        return [self._read[path] for path in self.paths(*folders, ends=ends)]

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def folders(self):
        """The top-level folders that git tracks; without git, all but those of builds."""
        files = ["git", "-C", str(self.root), "ls-files"]
        try:
            listed = subprocess.run(files, capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            listed = ""
        tracked = {line.split("/")[0] for line in listed.splitlines() if "/" in line}
        there = {p.name for p in self.root.iterdir() if p.is_dir()} - {".git", ".cache"}
        return sorted(tracked or {name for name in there if not name.startswith("build")})

    def compiled(self):
        lines = Path(self._sources).read_text(encoding="utf-8").split()
        return {Path(line).resolve() for line in lines}
