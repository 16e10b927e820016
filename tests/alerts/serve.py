#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""serve.py FABRICCTL LAB PORT: a request for /NODE is answered with what FABRICCTL prints of it."""
import http.server
import subprocess
import sys

FABRICCTL, LAB, PORT = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        run = subprocess.run([FABRICCTL, "metrics", "--lab", LAB, "--node", self.path.strip("/")],
                             capture_output=True, check=False)
        self.send_response(503 if run.returncode else 200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(run.stderr if run.returncode else run.stdout)


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
