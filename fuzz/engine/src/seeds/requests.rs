//! Seeds of the target `requests`: a line with method and path, lines of headers, a blank line, the body.

pub(super) const SEEDS: &[(&str, &[u8])] = &[
    (
        "create-job-deeply-nested-body",
        seed![b"POST /api/jobs\ncontent-type: application/json\n\n", &[b'['; 120], &[b']'; 120]],
    ),
    (
        "create-job-with-a-maximum-cost",
        seed![
            b"POST /api/jobs\ncontent-type: application/json\n\n",
            br#"{"jobType":"import","maxCost":0.25,"source":{"jobId":"11111111-1111-7111-8111-111111111111","part":"failed"},"#,
            br#""options":{"dataset":"d","key":"id"}}"#,
        ],
    ),
    (
        "create-job-with-a-maximum-cost-out-of-range",
        seed![
            b"POST /api/jobs\ncontent-type: application/json\n\n",
            br#"{"jobType":"import","maxCost":1e308,"items":[{"id":1}],"options":{"dataset":"d","key":"id"}}"#,
        ],
    ),
    (
        "create-job-with-a-schema",
        seed![
            b"POST /api/jobs\nidempotency-key: k\n",
            b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
            b"content-type: application/json\n\n",
            br#"{"jobType":"import","fileGuid":"cccccccc-cccc-7ccc-8ccc-cccccccccccc","priority":"high","#,
            br#""timeoutSeconds":60,"metadata":{"team":"crm"},"options":{"dataset":"d","key":"id","schema":{"type":"object","#,
            br##""properties":{"id":{"type":"integer"},"n":{"$ref":"#/$defs/a"}},"required":["id"],"##,
            br#""$defs":{"a":{"enum":[1,null]}}}}}"#,
        ],
    ),
    (
        "create-job-with-many-wrong-members",
        seed![
            b"POST /api/jobs\ncontent-type: application/json\n\n",
            br#"{"jobType":1,"fileGuid":"x","priority":"urgent","timeoutSeconds":-1,"options":[],"other":null}"#,
        ],
    ),
    (
        "create-upload",
        seed![
            b"POST /api/uploads\nidempotency-key: k\ncontent-type: application/json\n\n",
            br#"{"fileName":"people.csv","contentType":"text/csv; charset=utf-8","size":100,"#,
            br#""sha256":"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="}"#,
        ],
    ),
    ("list-jobs-with-every-filter", b"GET /api/jobs?status=completed&jobType=import&metadata[a]=b&limit=1"),
    ("method-not-allowed", b"PATCH /api/jobs"),
    ("path-with-escaped-bytes", b"GET /api/jobs/%ff%00%2f.."),
    ("read-audit", b"GET /api/jobs/11111111-1111-7111-8111-111111111111/audit"),
    ("read-costs-of-a-month-of-all-tenants", b"GET /api/costs?month=2023-11&tenant=*"),
    ("read-costs-of-no-month-and-no-tenant", b"GET /api/costs?month=2023-13&tenant=a%23b"),
    (
        "read-job-with-two-entity-tags",
        seed![b"GET /api/jobs/11111111-1111-7111-8111-111111111111\n", br#"if-none-match: W/"x", *"#],
    ),
    (
        "renew-upload-url-of-parts",
        seed![
            b"POST /api/uploads/aaaaaaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa/url\ncontent-type: application/json\n\n",
            br#"{"parts":[{"partNumber":1,"sha256":"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="}]}"#,
        ],
    ),
    (
        "retry-job-with-a-corrected-file",
        seed![
            b"POST /api/jobs/11111111-1111-7111-8111-111111111111/retry\ncontent-type: application/json\n\n",
            br#"{"fileGuid":"bbbbbbbb-bbbb-7bbb-8bbb-bbbbbbbbbbbb"}"#,
        ],
    ),
    (
        "unknown-path-with-a-long-header",
        seed![
            b"POST /'pi/jobs\n",
            b"content-type: application/jsod\n",
            b"inempotenCy-key: k\n",
            b"traceparent: 15-0aftion(jsod\n",
            b"inempotenCy-key: k\n",
            br#"traceparent: 15-0af7651916cd43dd8448eb211ccatobType":"import","#,
            br#""fileGui7651916cd43dd8448eb211ccatobType":"import","#,
            br#""fileGuid":"cccccccc-cccc-7ccc-8ccc-cccccccy":uploads/t/cccccccc-cccc-7},"#,
            br##""n":{"$ref":"#/$defs/a"}},"ruploads/t/cccccccc-cccc-7ccc-8ccc-cccccccccccc}}}}"##,
        ],
    ),
];
