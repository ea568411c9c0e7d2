"""The handbook's provider: three endpoints and a dict, as a reader would have typed it.

It stands here as a fixture: whatever it lacks (identity, idempotency, a list, problem details), an operator must
work with it. So it is kept as plain as it is, its 204 for ids that never were included.
"""

import argparse
import json
import os
import time
import uuid

from flask import Flask, jsonify, request

app = Flask(__name__)
vms: dict[str, dict[str, object]] = {}
created: dict[str, float] = {}
provision_seconds = float(os.environ.get("PROVISION_SECONDS", "2"))


@app.post("/vms")
def create_vm():
    body = request.get_json()
    vm_id = uuid.uuid4().hex
    vms[vm_id] = {"id": vm_id, "image": body["image"], "phase": "Provisioning"}
    created[vm_id] = time.time()
    return jsonify(vms[vm_id])


@app.get("/vms/<vm_id>")
def get_vm(vm_id):
    if vm_id not in vms:
        return "", 404
    if time.time() - created[vm_id] >= provision_seconds:
        vms[vm_id]["phase"] = "Running"
    return jsonify(vms[vm_id])


@app.delete("/vms/<vm_id>")
def delete_vm(vm_id):
    vms.pop(vm_id, None)
    return "", 204


if __name__ == "__main__":
    from werkzeug.serving import make_server

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--provision-seconds", type=float, default=provision_seconds)
    args = parser.parse_args()
    provision_seconds = args.provision_seconds
    server = make_server("127.0.0.1", args.port, app, threaded=True)
    print(json.dumps({"msg": "listening", "port": server.server_port}), flush=True)
    server.serve_forever()
