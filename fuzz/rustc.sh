#!/bin/sh
# The compiler as cargo calls it for the packages of this workspace, and for no other: with the instrumentation that
# shows libFuzzer which code an input reaches, and the values that it is compared with. FUZZ_LINK is the folder of
# libFuzzer, which is linked into the fuzzer's binary.
case " $* " in
*" --crate-name libfuzzer "*)
    set -- "$@" -L "$FUZZ_LINK" -l static:+whole-archive=fuzzer -l stdc++
    ;;
esac
exec "$@" -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
