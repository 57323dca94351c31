from __future__ import annotations

import pytest

from workbench.engine.extraction.extractor import Extractor


def found(text: str, cwd: str = "") -> set[tuple[str, str]]:
    extractor = Extractor(cwd)
    extractor.read(text)
    return set(extractor.entities)


@pytest.mark.parametrize(
    ("text", "kind", "entity"),
    [
        ("see src/app/main.py now", "path", "src/app/main.py"),
        ("see ./src/app/main.py:12:4, it fails", "path", "src/app/main.py"),
        ("(`config.toml`)", "path", "config.toml"),
        ("opened /etc/nginx/sites", "path", "/etc/nginx/sites"),
        ("cd cmd/tool/cli && ls", "path", "cmd/tool/cli"),
        ("diff --git a/src/x.ts b/src/x.ts", "path", "src/x.ts"),
        ("src/x.go-120-func main(", "path", "src/x.go"),
        ("edit .gitignore", "path", ".gitignore"),
        ("[guide](docs/guide.md)", "path", "docs/guide.md"),
        ("at https://Example.org/a/b?q=1.", "url", "https://example.org/a/b?q=1"),
        ("call parseHeader(x)", "identifier", "parseHeader"),
        ("class TokenBucket:", "identifier", "TokenBucket"),
        ("self.retry_limit = 3", "identifier", "retry_limit"),
        ("MAX_RETRIES", "identifier", "MAX_RETRIES"),
        ("listens on 48213", "number", "48213"),
        ("limit 200,000 rows", "number", "200000"),
        ("limit = 200_000", "number", "200000"),
        ("p = 0.037", "number", "0.037"),
        ("wait 30s", "number", "30 s"),
        ("wait 30 seconds", "number", "30 s"),
        ("85% full", "number", "85 %"),
        ("85 % full", "number", "85 %"),
        ("at most 20 MB", "number", "20 MB"),
        ("at most 20mb", "number", "20 MB"),
        ("pin 4.17.21", "version", "4.17.21"),
        ("tag v4.17.21", "version", "4.17.21"),
        ("since v2.3", "version", "2.3"),
        ("commit 3fa9c1e", "hash", "3fa9c1e"),
        ("commit 3fa9c1e07d5b8a6642f1c0e9d8b7a6f5e4d3c2b1", "hash", "3fa9c1e"),
        ("raised QuotaExceededError here", "error", "QuotaExceededError"),
        ("ECONNREFUSED", "error", "ECONNREFUSED"),
        ("error TS2345", "error", "TS2345"),
        ("fatal: bad revision 'HEAD~9'", "error", "bad revision 'head~9"),
        ("$ npm run lint -- --fix", "command", "npm run lint"),
        ("run `go vet ./...` first", "command", "go vet"),
        ("cd web && pnpm build", "command", "pnpm build"),
        ("use --max-old-space=4096", "flag", "--max-old-space"),
        ('it said "Never touch this again."', "quote", "never touch this again"),
        ("it said “never touch this again”", "quote", "never touch this again"),
        ("see #4821", "id", "#4821"),
        ("see OPS-417", "id", "OPS-417"),
        ("id 7d9f8e6a-1b2c-4d3e-8f90-a1b2c3d4e5f6", "id", "7d9f8e6a-1b2c-4d3e-8f90-a1b2c3d4e5f6"),
        ("on 2031-04-09T10:00", "id", "2031-04-09"),
        ("served by tiny-7b-q4", "id", "tiny-7b-q4"),
    ],
)
def test_an_entity_is_found_and_written_in_one_way(text: str, kind: str, entity: str) -> None:
    assert (kind, entity) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog and then it sleeps.",
        "Please do this and/or that, e.g. the first one.",
        "1/2 of the 12 tests",
        "a = self.c + this.h",
        "console.log(x) and items.map(fn) and history.go(-1)",
        "result.json() and path.md()",
        "--- +++ ==== ****",
        "-v -x -rf",
        "deadbeef decade facade",
        "1234567",
        "it costs 12 and 345",
        "make sure that it works, go to the next one, node by node",
        "well-known built-in state-of-the-art",
        '"a", "b", "c"',
        "// a comment, <div></div>",
        "application/json text/html",
    ],
)
def test_plain_words_hold_no_names(text: str) -> None:
    assert not {entity for entity in found(text) if entity[0] != "number"}


@pytest.mark.parametrize("text", ["12 files", "in 345 places", "step 3", "1.5x", "2.0"])
def test_small_numbers_without_a_unit_are_no_entities(text: str) -> None:
    assert not found(text)


def test_one_file_has_one_spelling_inside_the_working_directory() -> None:
    texts = (
        "/home/me/proj/src/a.py",
        "src/a.py",
        "./src/a.py",
        "src/a.py:7",
        "/home/me/proj/src/./a.py#L3",
    )
    assert {entity for text in texts for entity in found(text, "/home/me/proj")} == {
        ("path", "src/a.py")
    }


def test_the_working_directory_itself_is_no_entity() -> None:
    assert not found("cd /home/me/proj", "/home/me/proj")


def test_the_parts_of_an_address_are_no_entities_of_their_own() -> None:
    assert found("see https://example.org/src/user_guide.html?page=10124 now") == {
        ("url", "https://example.org/src/user_guide.html?page=10124")
    }


def test_a_windows_path_reads_like_any_other() -> None:
    assert ("path", "src/a.py") in found(r"C:\work\proj\src\a.py", "C:\\work\\proj")
