from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from local_server import Server

from gpgc.errors import DataError
from gpgc_lab.datasets import load_planetoid, planetoid

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
    monkeypatch.setattr("gpgc_lab.datasets.fetch._LARGEST_FILE", 100)
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
