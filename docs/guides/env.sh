# Variables and functions for the guides' commands. Source it in the repository's root: `. docs/guides/env.sh`.
# It uses the stack that `cargo xtask up` started. For another deployment, first set API (its output ApiUrl) and TOKEN.
if [ -z "${API:-}" ] && [ ! -e .longshore/local.json ]; then
    echo "Start the local stack with cargo xtask up, or set API and TOKEN." >&2
fi
API=${API:-$(python3 -c 'import json; print(json.load(open(".longshore/local.json"))["apiUrl"])')}
TOKEN=${TOKEN:-$(cargo xtask token)}
AUTH="authorization: Bearer $TOKEN"
JSON="content-type: application/json"
DIR=.longshore/guide
mkdir -p "$DIR"

# Prints one value of the JSON document on standard input: `json links self`, `json parts 0 url`.
json() {
    python3 -c '
import json, sys
value = json.load(sys.stdin)
for step in sys.argv[1:]:
    value = value[int(step)] if isinstance(value, list) else value[step]
print(value if isinstance(value, str) else json.dumps(value))' "$@"
}

# Uploads a file of up to 64 MiB as CSV, by the two calls of docs/guides/uploads.md. Prints its fileGuid.
upload() {
    local size answer
    size=$(($(wc -c <"$1")))
    answer=$(curl -sS --fail-with-body -X POST "$API/api/uploads" -H "$AUTH" -H "$JSON" \
        -d '{"fileName":"'"$(basename "$1")"'","contentType":"text/csv","size":'"$size"'}') || return
    curl -sS --fail-with-body -X PUT "$(json url <<<"$answer")" \
        -H 'content-type: text/csv' -H 'if-none-match: *' --data-binary @"$1" >&2 || return
    json fileGuid <<<"$answer"
}

# Polls the job at a URL until it ends. Prints its last message.
wait_for() {
    local job
    while job=$(curl -sS --fail-with-body "$1" -H "$AUTH"); do
        case $(json status <<<"$job") in
        completed | failed | canceled) json message <<<"$job"; return ;;
        esac
        sleep 1
    done
    return 1
}

# Polls a job type until its candidate is active. Fails with the reason if it is refused. OPERATOR is the header of an operator.
wait_for_type() {
    local candidate
    while candidate=$(curl -sS --fail-with-body "$API/api/job-types/$1" -H "$OPERATOR" | json candidate); do
        case $candidate in
        null) return ;;
        esac
        case $(json status <<<"$candidate") in
        refused) json reason <<<"$candidate" >&2; return 1 ;;
        esac
        sleep 1
    done
    return 1
}
