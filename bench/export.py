#!/usr/bin/env python3
"""Exports a dataset as one process would do without Longshore: pages its partitions with boto3, writes JSON Lines.

    bench/export.py TABLE PREFIX FILE

PREFIX is that of the dataset's 64 partition keys. The script queries one partition after the other, consistently, in
pages of up to 1 MB. (A scan would also read the other datasets of the table.) It converts the attributes itself, which
is faster than boto3's TypeDeserializer.

Prints the seconds from the first call until the file is closed, without the start of the interpreter and the imports.
"""
import json
import sys
import time

import boto3

PARTITIONS = 64
WRITE_BYTES = 1 << 20


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


CONVERSIONS = {
    "S": str,
    "N": number,
    "BOOL": bool,
    "NULL": lambda _: None,
    "M": lambda members: {name: plain(value) for name, value in members.items()},
    "L": lambda values: [plain(value) for value in values],
}


def plain(value):
    ((kind, content),) = value.items()
    return CONVERSIONS[kind](content)


def export(table, prefix, path):
    pages = boto3.client("dynamodb").get_paginator("query")
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    with open(path, "w", encoding="utf-8", buffering=WRITE_BYTES) as file:
        for partition in range(PARTITIONS):
            found = pages.paginate(
                TableName=table,
                KeyConditionExpression="PK = :partition",
                ExpressionAttributeValues={":partition": {"S": f"{prefix}{partition:02x}"}},
                ConsistentRead=True,
            )
            for page in found:
                file.writelines(encode(plain(item["data"])) + "\n" for item in page["Items"])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    began = time.perf_counter()
    export(*sys.argv[1:])
    print(f"{time.perf_counter() - began:.3f}")


main()
