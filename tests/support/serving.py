"""A web server on this machine that runs during a test."""

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def serving(
    handler: Callable[..., http.server.BaseHTTPRequestHandler],
) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1, and yield the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
