#!/bin/sh
# What cargo calls in place of rustc for the packages of this workspace, and for no other: the compiler with the
# instrumentation by which libFuzzer sees which code an input has reached, and what it was compared with.
exec "$@" -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
