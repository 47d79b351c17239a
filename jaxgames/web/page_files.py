"""The files of the page as they are sent: each script with all that it imports as one, compressed, known by a tag."""

import functools
import gzip
import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The kinds of files that the page is made of; no others are served."""
PAGES = {"": "index.html", "train": "train.html", "challenge": "challenge.html", "tournaments": "tournaments.html"}
"""The pages by their paths."""
FRAME = "frame.html"
"""What the smaller pages have around their content."""
FRAMED = {"train.html": "Trainings", "challenge.html": "Challenge", "tournaments.html": "Tournaments"}
"""Their files, and titles."""
SCRIPTS = ("main.js", "train.js", "challenge.js", "tournaments.js", "socket.js")
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "([^"]+)";$', re.M)
_COMMENT = re.compile(r"^ *//[^\n]*\n|^ */\*\*.*?\*/\n", re.M | re.S)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.M)


class PageFile(NamedTuple):
    """A file, plain and compressed; `tag` changes when its content does."""

    media: str
    plain: bytes
    small: bytes
    tag: str


def page_file(media: str, content: bytes) -> PageFile:
    """A content as it is sent."""
    return PageFile(media, content, gzip.compress(content, mtime=0), f'"{hashlib.sha256(content).hexdigest()[:24]}"')


def page_files() -> dict[str, PageFile]:
    """The files of the page by their names below `/static/`, made once: no request becomes a path."""
    root = Path(str(resources.files("jaxgames.web") / "static"))
    paths = [path for path in sorted(root.iterdir()) if path.suffix in MEDIA and path.suffix != ".js"]
    files = {path.name: page_file(MEDIA[path.suffix], path.read_bytes()) for path in paths if path.name != FRAME}
    files |= {name: page_file(MEDIA[".html"], framed(root, name).encode()) for name in FRAMED}
    return files | {name: page_file(MEDIA[".js"], bundled(root / name).encode()) for name in SCRIPTS}


def framed(root: Path, name: str) -> str:
    """A page of `FRAMED` as a whole: its content in the frame, where its own link is that of the current page."""
    parts = {"title": FRAMED[name], "name": name.removesuffix(".html"), "main": (root / name).read_text("utf-8")}
    page = re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], (root / FRAME).read_text("utf-8"))
    link = f'href="/{parts["name"]}"'
    return page.replace(link, f'{link} aria-current="page"')


def bundled(script: Path) -> str:
    """A module and all modules that it imports, as one script without comments: each is a function that gives what it
    exports.
    """
    names: dict[Path, str] = {}
    parts: list[str] = []

    def taken(path: Path, found: re.Match[str]) -> str:
        return f"const {{ {found[1].replace(' as ', ': ')} }} = {add((path.parent / found[2]).resolve())};"

    def add(path: Path) -> str:
        if path not in names:
            text = _IMPORT.sub(functools.partial(taken, path), _COMMENT.sub("", path.read_text(encoding="utf-8")))
            exported = ", ".join(_EXPORT.findall(text))
            names[path] = f"module{len(names)}"
            parts.append(f"const {names[path]} = (() => {{\n{_EXPORT.sub('', text)}return {{ {exported} }};\n}})();\n")
        return names[path]

    add(script.resolve())
    return "".join(parts)
