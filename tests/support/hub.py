"""The part of the Hugging Face Hub's HTTP interface that `load_dataset` uses."""

import hashlib
import http.server
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from support.serving import serving

# The card of a data set of reviews, without the parts that only its page shows.
CARD = """\
---
dataset_info:
  config_name: plain_text
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': neg
          '1': pos
configs:
- config_name: plain_text
  data_files:
  - split: train
    path: plain_text/train-*
  - split: test
    path: plain_text/test-*
  default: true
---
"""


def repository(
    splits: dict[str, tuple[list[str], list[int]]], folder: str
) -> dict[str, bytes]:
    """Return the files of a data set on the Hub, given texts and labels by split."""
    files = {"README.md": CARD.encode()}
    for split, (texts, labels) in splits.items():
        buffer = io.BytesIO()
        pq.write_table(pa.table({"text": texts, "label": labels}), buffer)
        files[f"{folder}/{split}-00000-of-00001.parquet"] = buffer.getvalue()
    return files


@dataclass
class Hub:
    """A running Hub: its address, and the files that were requested."""

    address: str = ""
    downloads: list[str] = field(default_factory=list)


@contextmanager
def hub(repositories: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    """Serve repositories of data sets, each with its files by path; yield the Hub."""
    running = Hub()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = re.fullmatch(
                r"/(api/)?datasets/([\w-]+/[\w-]+)(?:/([\w-]+)/(\w+)(?:/(.*))?)?",
                url.path,
            )
            if found is None or found[2] not in repositories:
                return self.send(404, {"X-Error-Code": "RepoNotFound"})
            api, name, what, asked_for, path = found.groups()
            files = repositories[name]
            if not api:
                if what != "resolve" or path not in files:
                    return self.send(404, {"X-Error-Code": "EntryNotFound"})
                if self.command == "GET":
                    running.downloads.append(f"{name}/{path}")
                identity = {"ETag": f'"{digest(files[path])}"'}
                identity["X-Repo-Commit"] = asked_for
                return self.send(200, identity, files[path])
            if what in (None, "revision"):
                siblings = [{"rfilename": path} for path in files]
                about = {"id": name, "sha": revision(files), "siblings": siblings}
                return self.json(about)
            if what == "tree":
                deep = "true" in parse_qs(url.query.lower()).get("recursive", [])
                return self.json(entries(files, path or "", deep))
            if what == "paths-info":
                asked = parse_body(body)
                every = entries(files, "", True)
                return self.json([entry for entry in every if entry["path"] in asked])
            return self.send(404, {})

        do_GET = do_HEAD = do_POST = answer

        def json(self, value: object) -> None:
            kind = {"Content-Type": "application/json"}
            self.send(200, kind, json.dumps(value).encode())

        def send(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as running.address:
        yield running


def parse_body(body: bytes) -> list[str]:
    """Return the paths that a request names, as JSON or as a form."""
    if body.startswith(b"{"):
        return list(json.loads(body)["paths"])
    return parse_qs(body.decode())["paths"]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def revision(files: dict[str, bytes]) -> str:
    """Return forty hexadecimal digits that change with every file, like a commit."""
    return digest("".join(path + digest(files[path]) for path in files).encode())[:40]


def entries(
    files: dict[str, bytes], folder: str, deep: bool
) -> list[dict[str, object]]:
    """Return the tree below a folder, folders first, in the format of the Hub."""
    start = f"{folder}/" if folder else ""
    below = [path for path in files if path.startswith(start)]
    folders = {path.rsplit("/", 1)[0] for path in below if "/" in path[len(start) :]}
    found: list[dict[str, object]] = [
        {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}
        for path in sorted(folders)
    ]
    for path in below:
        if deep or "/" not in path[len(start) :]:
            data = files[path]
            oid = hashlib.sha1(data).hexdigest()
            found.append({"type": "file", "path": path, "size": len(data), "oid": oid})
    return found
