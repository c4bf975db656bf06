#!/usr/bin/env bash
# Runs the DynamoDB tests of the conformance suite on Dynoxide, which is built once and cached with the other tools.
# Dynoxide is not a dependency of the workspace, because it enables features of tokio and axum that would build the SDK
# twice.
set -euo pipefail
cd "$(dirname "$0")/.."

DYNOXIDE=3.2.0
tools="${LONGSHORE_CACHE_DIR:-$PWD/.longshore}/dynoxide-$DYNOXIDE"
if [ ! -x "$tools/bin/dynoxide" ]; then
    cargo install dynoxide-rs --version "$DYNOXIDE" --locked --no-default-features \
        --features native-sqlite,http-server,cli --debug --root "$tools"
fi

port="${LONGSHORE_DYNOXIDE_PORT:-8765}"
"$tools/bin/dynoxide" --host 127.0.0.1 --port "$port" &
engine=$!
trap 'kill "$engine"' EXIT
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    kill -0 "$engine"
    sleep 0.1
done
LONGSHORE_EMULATOR="http://127.0.0.1:$port" cargo test --locked --package longshore-tests --test conformance -- \
    on_dynamodb by_dynamodb --test-threads 4 "$@"
