#!/usr/bin/env python3
"""Makes the pages of the documentation as one folder of HTML: scripts/docs.sh calls it, after Doxygen.

    build.py ROOT OUT

Pages are made of the Markdown files that README.md leads to. A link to another file of the project becomes a page with
its text. All links are checked, also into the references in OUT/cpp and OUT/c. Exit status 1 with findings, one a line.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path, PurePosixPath

MENU = (
    ("Start", ("README.md", "docs/five-minutes.md", "docs/install.md", "docs/recipes.md", "docs/coming-from.md")),
    ("Use", ("docs/cpp.md", "docs/asio.md", "docs/python.md", "docs/c.md", "docs/shell.md", "docs/sql.md", "docs/schedules.md",
             "docs/batches.md", "docs/connecting.md")),
    ("Run", ("docs/dashboard.md", "docs/managing.md", "docs/deployment.md", "docs/observing.md", "docs/testing.md", "docs/security.md", "docs/backup.md",
             "docs/moving.md", "docs/waiting.md", "docs/scale.md")),
    ("Reference", ("cpp/annotated.html", "c/tableq_8h.html", "docs/guarantees.md", "docs/tables.md", "docs/limits.md", "docs/performance.md",
                   "docs/reliability.md", "docs/design.md", "docs/glossary.md")),
)
REFERENCES = {"cpp/annotated.html": "C++ reference", "c/tableq_8h.html": "C reference"}


def slug(heading):
    """The anchor that the forge gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def target_of(path):
    """The page of a file."""
    if path == "README.md":
        return "index.html"
    if path.endswith(".md"):
        return path.removesuffix("README.md") + "index.html" if path.endswith("/README.md") else path[:-3] + ".html"
    return path if path.endswith(".html") else f"files/{path}.html"


def relative(target, page):
    """A link from one page to another."""
    up = "../" * page.count("/")
    return up + target


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.template = (root / "scripts/site/page.html").read_text(encoding="utf-8")
        self.waiting = ["README.md", *sorted(p.relative_to(root).as_posix() for p in root.glob("docs/**/*.md"))]
        self.known = set(self.waiting)
        self.anchors, self.links, self.found, self.texts = {}, [], [], []
        self.files = set(
            subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
        )

    def menu(self, page):
        parts = []
        for name, entries in MENU:
            parts.append(f"<h2>{name}</h2><ul>")
            for entry in entries:
                target = target_of(entry)
                mark = ' aria-current="page"' if target == page else ""
                title = REFERENCES.get(entry) or self.title_of(entry)
                parts.append(f'<li><a href="{relative(target, page)}"{mark}>{html.escape(title)}</a></li>')
            parts.append("</ul>")
        return "".join(parts)

    def title_of(self, path):
        return re.search(r"^# (.+)$", (self.root / path).read_text(encoding="utf-8"), re.M)[1].replace("`", "")

    def write(self, page, title, body):
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self.template
        for name, value in (("title", html.escape(title)), ("root", "../" * page.count("/")), ("menu", self.menu(page)),
                            ("body", body)):
            text = text.replace("{{" + name + "}}", value)
        path.write_text(text, encoding="utf-8")
        self.anchors[page] = set(re.findall(r'id="([^"]+)"', text))

    def follow(self, href, source, page):
        """Where a link of a source leads in the site; notes what is still to be made."""
        if re.match(r"\w+:", href):
            return href
        path, _, anchor = href.partition("#")
        if not path:
            self.links.append((source, page, anchor))
            return href
        parts = []
        for part in (PurePosixPath(source).parent / path).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        to = "/".join(parts)
        if (self.root / to).is_dir() and to + "/README.md" in self.files:
            to += "/README.md"
        if to not in self.files and not (self.root / to).is_dir():
            self.found.append(f"{source}: no such file: {href}")
            return href
        if to.endswith((".svg", ".png")):
            (self.out / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / to, self.out / to)
            return relative(to, page)
        if to not in self.known:
            self.known.add(to)
            self.waiting.append(to)
        target = target_of(to)
        self.links.append((source, target, anchor))
        return relative(target, page) + ("#" + anchor if anchor else "")

    def markdown(self, path):
        page, count, title = target_of(path), {}, path
        done = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", str(self.root / path)],
                              capture_output=True, text=True, check=True)
        section = ["", ""]

        def heading(match):
            nonlocal title
            level, inner = match[1], match[2]
            anchor = slug(plain(inner))
            count[anchor] = count.get(anchor, -1) + 1
            if count[anchor]:
                anchor += f"-{count[anchor]}"
            if level == "1":
                title = plain(inner)
            return f'<h{level} id="{anchor}">{inner}<a class="anchor" href="#{anchor}" aria-label="Link">#</a></h{level}>'

        body = re.sub(r"<h([1-4])>(.*?)</h\1>", heading, done.stdout, flags=re.S)
        body = re.sub(r'(href|src)="([^"]*)"',
                      lambda m: f'{m[1]}="{html.escape(self.follow(html.unescape(m[2]), path, page))}"', body)
        body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
        self.write(page, title, body)
        # For the search: the text of each section.
        for piece in re.split(r"(?=<h[1-4] id=)", body):
            head = re.match(r'<h[1-4] id="([^"]+)">(.*?)<a class', piece, re.S)
            section = [plain(head[2]), "#" + head[1]] if head else section
            text = " ".join(plain(piece.split("</h", 1)[-1].split(">", 1)[-1] if head else piece).split())
            if text:
                self.texts.append([title, section[0], page + section[1], text])

    def file(self, path):
        """A source, or the list of a folder."""
        page = target_of(path)
        if (self.root / path).is_dir():
            names = sorted(name for name in self.files if name.startswith(path + "/"))
            items = []
            for name in names:
                href = self.follow(PurePosixPath(name).relative_to(path).as_posix(), path + "/x", page)
                items.append(f'<li><a href="{html.escape(href)}">{html.escape(name)}</a></li>')
            body = f"<ul>{''.join(items)}</ul>"
        else:
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            body = f"<pre><code>{html.escape(text)}</code></pre>"
        self.write(page, path, f'<h1 id="top">{html.escape(path)}</h1>{body}')

    def references(self):
        """The names of the references, for the search."""
        for folder, label in (("cpp", "C++"), ("c", "C")):
            for compound in xml.parse(self.out / f"{folder}.tag").getroot():
                kind, name = compound.get("kind"), compound.findtext("name")
                file = compound.findtext("filename") or ""
                if kind in ("class", "struct"):
                    self.texts.append([f"{label} reference", name, f"{folder}/{file}", kind])
                for member in compound.findall("member"):
                    anchor = f"{folder}/{member.findtext('anchorfile')}#{member.findtext('anchor')}"
                    own = member.findtext("name")
                    full = own if kind in ("file", "namespace") else f"{name}::{own}"
                    signature = f"{member.findtext('type') or ''} {own}{member.findtext('arglist') or ''}".strip()
                    self.texts.append([f"{label} reference", full, anchor, signature])
            (self.out / f"{folder}.tag").unlink()

    def check(self):
        for source, target, anchor in self.links:
            if not (self.out / target).exists():
                self.found.append(f"{source}: no page {target}")
            elif anchor and anchor not in self.anchors[target]:
                self.found.append(f"{source}: no heading #{anchor} in {target}")
        ids = {}
        for path in sorted(self.out.rglob("*.html")):
            text = path.read_text(encoding="utf-8", errors="replace")
            page = path.relative_to(self.out).as_posix()
            for href in re.findall(r'(?:href|src)="([^"#]+)', text):
                if not re.match(r"\w+:", href) and not (path.parent / html.unescape(href)).exists():
                    self.found.append(f"{page}: leads nowhere: {href}")
            ids[page] = text
        for title, name, target, _ in self.texts:
            page, _, anchor = target.partition("#")
            if page not in ids or (anchor and f'id="{anchor}"' not in ids[page]):
                self.found.append(f"the search: {title}, {name}: leads nowhere: {target}")

    def build(self):
        for path in self.waiting:
            if path.endswith(".md"):
                self.markdown(path)
            else:
                self.file(path)
        self.references()
        for name in ("style.css", "search.js"):
            shutil.copy(self.root / "scripts/site" / name, self.out / name)
        # As a script, because a page that was opened from a file may not fetch another one.
        (self.out / "search-index.js").write_text("const searchIndex = " + json.dumps(self.texts) + ";\n", encoding="utf-8")
        self.check()
        pages = len(list(self.out.rglob("*.html")))
        print("\n".join(sorted(set(self.found))), file=sys.stderr, end="\n" if self.found else "")
        print(f"{pages} pages, {len(self.links)} links between them, {len(self.texts)} entries of the search")
        return 1 if self.found else 0


sys.exit(Site(Path(sys.argv[1]), Path(sys.argv[2])).build())
