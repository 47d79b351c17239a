"""The files of the page are few, small and kept: a slow network has to bring little, and once."""

import gzip
import re

from jaxgames.web.app import FRAMED, SCRIPTS, bundled, page_files


def test_a_script_holds_all_that_it_imports_once(tmp_path):
    main = 'import { one as first } from "./a.js";\nimport { two } from "./b/b.js";\nrun(first, two);\n'
    (tmp_path / "main.js").write_text(main)
    (tmp_path / "a.js").write_text("// A comment.\n/** Another\n * one. */\nexport const one = 1; // kept\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.js").write_text('import { one } from "../a.js";\nexport function two() {\n  return one;\n}\n')
    text = bundled(tmp_path / "main.js")
    assert text.count("const one = 1; // kept") == 1 and "comment" not in text and "Another" not in text
    assert "return { one };" in text and "return { two };" in text and "const { one: first } = module0;" in text
    for script in SCRIPTS:
        plain = page_files()[script].plain.decode()
        assert not re.search("^(import|export) ", plain, re.M)


def test_the_smaller_pages_are_whole_and_link_to_themselves_as_current():
    files = page_files()
    for name, title in FRAMED.items():
        page, script = files[name].plain.decode(), name.replace(".html", ".js")
        current = f'href="/{name.removesuffix(".html")}" aria-current="page">{title}</a>'
        assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>") and page.count("<main") == 1
        assert page.count("aria-current") == page.count(current) == 1 and f"<title>{title} · jaxgames</title>" in page
        assert page.count(f'src="/static/{script}"') == 1 and "{" not in page
    assert "frame.html" not in files


def test_the_first_visit_is_small_and_the_second_brings_nothing(http):
    page = http.get("/").text
    wanted = ["/", *re.findall(r'(?:href|src)="(/(?:static|api)/[^"]+)"', page)]
    answers = {path: http.get(path, headers={"accept-encoding": "gzip"}) for path in wanted}
    sent = sum(int(answer.headers["content-length"]) for answer in answers.values())
    assert len(wanted) == 7 and sent < 55_000  # 2.75 s at 20 kB/s
    for path, answer in answers.items():
        assert answer.headers["content-encoding"] == "gzip", path
        plain = http.get(path, headers={"accept-encoding": "identity"})
        assert plain.content == answer.content and "content-encoding" not in plain.headers
        again = http.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"") and again.headers["content-security-policy"]
    assert gzip.decompress(page_files()["index.html"].small).decode() == page
    # Something is shown before the styles have come, and the line is opened before the page's script has.
    assert page.index("Loading") < page.index("stylesheet") and page.index("socket.js") < page.index("main.js")
