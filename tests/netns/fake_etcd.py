#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fake_etcd.py MODE [VALUE]: one key of etcd behind its JSON gateway, on a port of 127.0.0.1 that is
printed first; then, after each transaction that is done, the value. MODE is one of
  honest     compares and swaps
  race       the first transaction finds that the claim VALUE2 has come before
  races      each transaction does
  garbage    JSON that no etcd says
  text       no JSON
  refusing   HTTP status 503
  silent     takes the request and says nothing
  closing    closes the connection
VALUE, as EPOCH,GUID, is what the key holds at first."""
import base64
import http.server
import json
import sys
import time

MODE = sys.argv[1]
KEY = base64.b64encode(b'torus/green/root').decode()
values = [v.replace(',', ' ') for v in sys.argv[2:]]
state = {'value': values.pop(0) if values else None, 'revision': 1234567890123}
HEADER = {'cluster_id': '14841639068965178418', 'revision': '7'}


def put(value):
    state['value'] = value
    state['revision'] += 1


def ranged(ask):
    assert ask == {'key': KEY}, ask
    if state['value'] is None:
        return {'header': HEADER}
    kv = {'key': KEY, 'create_revision': '2', 'mod_revision': str(state['revision']), 'version': '1',
          'value': base64.b64encode(state['value'].encode()).decode()}
    return {'header': HEADER, 'kvs': [kv], 'count': '1'}


def swapped(ask):
    (compare,), (success,) = ask['compare'], ask['success']
    assert compare['target'] == 'MOD' and compare['result'] == 'EQUAL' and compare['key'] == KEY, ask
    if (MODE == 'race' and values) or MODE == 'races':
        put(values.pop(0) if values else state['value'])
    if compare['mod_revision'] != (str(state['revision']) if state['value'] else '0'):
        return {'header': HEADER}
    assert success['request_put']['key'] == KEY, ask
    put(base64.b64decode(success['request_put']['value'], validate=True).decode())
    print(state['value'], flush=True)
    return {'header': HEADER, 'succeeded': True, 'responses': [{'response_put': {'header': HEADER}}]}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        if MODE == 'silent':
            time.sleep(30)
        if MODE == 'closing':
            return
        says = {'/v3/kv/range': ranged, '/v3/kv/txn': swapped}[self.path](ask)
        text = {'garbage': '{"kvs": 7, "succeeded": true}', 'text': 'hello'}.get(MODE, json.dumps(says))
        self.send_response(503 if MODE == 'refusing' else 200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
