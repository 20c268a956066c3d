"""What the server answers, and what it refuses."""

import errno
import http.client
import json
import threading
import time

import pytest

from gpgc.labelling.items import ImageFileItems, as_items
from gpgc.labelling.sources import Source, image_folder, text_table
from tests.labelling.conftest import work

pytest.importorskip("uvicorn", reason="the page's server needs the extra label")

TOKEN = "a-token-for-tests-only-1234"


class Client:
    """A browser that says exactly what it is told to say."""

    def __init__(self, port):
        self.port = port

    def ask(self, path, method="GET", body=None, token=TOKEN, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        sent = {"host": f"127.0.0.1:{self.port}", **headers}
        if token:
            from gpgc.labelling.guard import session_id

            sent["cookie"] = f"gpgc-{self.port}={session_id(token, self.port)}"
        if body is not None:
            sent.setdefault("content-type", "application/json")
            sent["content-length"] = str(len(body))
        for name, value in sent.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def post(self, event, **more):
        return self.ask("/api/events", "POST", json.dumps(event).encode(), **more)


@pytest.fixture
def served(open_session):
    """Return a desk, and a client of its server."""
    from gpgc.labelling.server import Server

    desk = open_session()
    server = Server(desk, token=TOKEN)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    client = Client(server.port)
    for _ in range(6000):
        try:
            client.ask("/api/session")
            break
        except OSError:
            time.sleep(0.05)
    else:
        pytest.fail("the server did not start")
    yield desk, client
    server.stop()
    thread.join(10)


def test_the_token_is_exchanged_for_a_cookie(served):
    _, client = served
    answer = client.ask(f"/?token={TOKEN}", token=None)
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    page = client.ask("/")
    assert page.status == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-store"


def test_a_browser_of_another_token_is_told_to_open_the_new_address(served):
    _, client = served
    for path in ("/api/session", "/api/next?n=2", "/events", "/item/1/image"):
        answer = client.ask(path, token="of-a-server-that-has-ended")
        assert answer.status == 401
        assert "open the new address" in json.loads(answer.content)["problem"]
    page = client.ask("/", token="of-a-server-that-has-ended")
    assert page.status == 401
    assert b"open the new address" in page.content
    raw = f"gpgc-{client.port}={TOKEN}"
    assert client.ask("/api/session", token=None, cookie=raw).status == 401


def test_a_name_of_two_words_goes_through_the_address(served):
    _, client = served
    answer = client.ask(f"/?token={TOKEN}&by=Anna+Maria", token=None)
    assert answer.headers["location"] == "/?by=Anna+Maria"


def test_an_answer_that_came_late_is_a_conflict(served):
    desk, client = served
    (node,) = desk.session.next("anna", 1)
    event = {"do": "label", "item": node, "was": None}
    assert client.post({**event, "label": "a", "by": "anna"}).status == 200
    late = client.post({**event, "label": "b", "by": "ben"})
    assert late.status == 409
    assert b"meanwhile" in late.content
    assert len(desk.session.ledger.entries) == 1


def test_hostile_requests_change_nothing(served):
    desk, client = served
    journal = desk.session.journal.path
    before = journal.read_bytes()
    (node,) = desk.session.next("anna", 1)
    good = {"event": "e", "do": "label", "item": node, "label": "a"}
    body, port = json.dumps(good).encode(), client.port
    refused = {
        "no token": client.post(good, token=None),
        "wrong token": client.post(good, token="x" * 27),
        "rebound host": client.post(good, host=f"evil.test:{port}"),
        "no host": client.post(good, host=""),
        "other port": client.post(good, host="127.0.0.1:1"),
        "foreign origin": client.post(good, origin="http://evil.test"),
        "null origin": client.post(good, origin="null"),
        "simple post": client.post(good, content_type="text/plain"),
        "form": client.post(good, content_type="application/x-www-form-urlencoded"),
        "too large": client.post({**good, "note": "x" * 65_537}),
        "no json": client.ask("/api/events", "POST", b"{"),
        "a list": client.ask("/api/events", "POST", b"[1]"),
        "deep": client.ask("/api/events", "POST", b"[" * 30_000),
        "by get": client.ask(f"/api/events?event=e&do=label&item={node}&label=a"),
        "put": client.ask("/api/events", "PUT", body),
        "delete": client.ask("/api/history", "DELETE"),
        "unknown class": client.post({**good, "label": "<script>alert(1)</script>"}),
        "no such item": client.post({**good, "item": 10**9}),
        "item as text": client.post({**good, "item": "0"}),
    }
    assert {name: a.status for name, a in refused.items() if not 400 <= a.status < 500} == {}
    assert refused["too large"].status == 413
    assert refused["unknown class"].status == 409
    assert journal.read_bytes() == before
    assert client.post(good, origin=f"http://127.0.0.1:{port}").status == 200


def test_no_path_leads_out(served):
    _, client = served
    ways = ["..", "%2e%2e", "..%2f", "%2e%2e%2f", "....//", "%00", "..\\", "%5c..", "etc/passwd"]
    for start in ("/", "/static/", "/item/", "/item/1/", "/api/", "/api/item/", "/export/"):
        for way in ways:
            for end in ("", "/etc/passwd", "/image", "server.py"):
                answer = client.ask(f"{start}{way}{end}")
                assert 400 <= answer.status < 500, (start, way, end)
                assert b"root:" not in answer.content
    assert client.ask("/static/view.js").status == 200
    assert client.ask("/static/server.py").status == 404
    assert client.ask("/static/__init__.py").status == 404


def test_a_full_disk_is_said_and_nothing_is_acknowledged(served, monkeypatch):
    desk, client = served
    (node,) = desk.session.next("anna", 1)
    event = {"event": "e", "do": "label", "item": node, "label": "a", "by": "anna"}

    def full(record):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(desk.session.journal, "append", full)
        answer = client.post(event)
        assert answer.status == 507
        assert b"disk is full" in answer.content
        assert not desk.session.ledger.labels
    assert client.post(event).status == 200
    assert len(desk.session.ledger.labels) == 1


def test_questions_and_answers(served):
    desk, client = served
    work(desk, 8)
    for path in ("session", "next?n=2&by=anna", "estimate", "history", "search?q=n1", "near/3"):
        answer = client.ask(f"/api/{path}")
        assert answer.status == 200, path
        json.loads(answer.content)
        assert b'"role"' not in answer.content
    assert len(client.ask("/api/colours").content) == 600
    assert client.ask("/api/item/x").status == 400
    assert client.ask("/api/next?n=many").status == 400
    for name in ("labels.csv", "predictions.csv", "model.gpgc", "journal.jsonl"):
        answer = client.ask(f"/export/{name}")
        assert answer.status == 200
        assert name in answer.headers["content-disposition"]
    assert client.ask("/item/3/image").status == 422


def test_images_that_are_none_say_so(tmp_path):
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    Image.new("RGB", (40, 30), "red").save(folder / "good.png")
    Image.new("L", (40, 30), 9).save(folder / "good.jpg")
    (folder / "page.png").write_text("<html><script>alert(1)</script></html>")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 50)
    with (folder / "large.png").open("wb") as file:
        file.truncate(100 * 2**20)
    (tmp_path / "secret.png").write_bytes((folder / "good.png").read_bytes())
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "note.txt").write_text("no image")
    source = image_folder(folder)
    assert source.ids == ["broken.png", "good.jpg", "good.png", "large.png", "page.png"]
    assert source.described(print).features.shape[0] == 5
    pictures = {name: source.items.picture(node) for node, name in enumerate(source.ids)}
    assert pictures["good.png"].kind == "image/png"
    assert pictures["good.jpg"].kind == "image/jpeg"
    assert "100 MB" in pictures["large.png"].problem
    assert "no PNG" in pictures["page.png"].problem


def test_texts_have_features_at_once(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text\n1,the cat sat\n2,the dog ran\n3,a cat ran\n")
    source = text_table(path)
    assert source.ids == ["1", "2", "3"]
    assert source.described(print).features.shape[0] == 3
    assert source.items.show(0) == {"text": "the cat sat", "is_cut": False}


def test_items_of_all_kinds(tmp_path):
    import numpy as np

    ids = ["a", "b"]
    assert as_items(None, ids).show(0) == {"title": "a"}
    assert as_items(["x", "y"], ids).line(1) == "y"
    images = as_items(np.zeros((2, 4, 4)), ids)
    assert images.picture(0).content.startswith(b"\x89PNG")
    paths = as_items([tmp_path / "1.png", tmp_path / "2.png"], ids)
    assert isinstance(paths, ImageFileItems)
    assert "cannot be read" in paths.picture(0).problem
    wide = as_items(None, ids, np.arange(200.0).reshape(2, 100))
    assert len(wide.show(1)["cells"]) == 40
    assert Source("t", ids, wide, None).classes == ()
