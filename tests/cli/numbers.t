# SPDX-License-Identifier: Apache-2.0
# Numbers on the command line (cases F09 and D20): taken exactly or refused, naming the option, before any
# device is used.

== exact: beyond 32 bits, and every documented spelling
$ for n in 4294967297 8589934592 8G 8Gi 2^33 64Ki 1000 0; do
$ reduce-tune lookup --device cpu --db none --dtype f32 -n "$n" --json | json-get n; done
> 4294967297
> 8589934592
> 8000000000
> 8589934592
> 8589934592
> 65536
> 1000
> 0

== no-size: signs, spaces, fractions, exponents, other bases, other units, nothing
$ for n in -1 ' -1' "$(printf '\n-1')" 1e9 1.5 0x10 '' 12abc 1Y 8k ' 5' 5, +5 2^ 3^2; do
$ reduce-tune lookup --device cpu --db none --dtype f32 -n "$n" 2> err; echo "$? $(grep -c '^reduce-tune: -n: .* is not a size (expected .*)$' err)"; done | sort | uniq -c | sed 's/^ *//'
> 15 2 1

== too-large
$ reduce-tune lookup --device cpu --db none --dtype f32 -n 18446744073709551616
$ reduce-tune lookup --device cpu --db none --dtype f32 -n 99999999999999999999999999
$ reduce-tune lookup --device cpu --db none --dtype f32 -n 18446744073709551615
! reduce-tune: -n: "18446744073709551616" is out of range (expected 0 to 281474976710656)
! Try 'reduce-tune help lookup'.
! reduce-tune: -n: "99999999999999999999999999" is out of range (expected 0 to 281474976710656)
! Try 'reduce-tune help lookup'.
! reduce-tune: -n: "18446744073709551615" is out of range (expected 0 to 281474976710656)
! Try 'reduce-tune help lookup'.
? 2

== sizes: lists and ranges
$ for s in 0 -5 '' 5,,6 2^10..2^5 3..8 2^10.. 1e3 2^64 10..; do
$ reduce-tune --device cpu --db none --sizes "$s" 2>&1 | sed -n 1p; done
> reduce-tune: --sizes: "0" is out of range (expected 1 to 1099511627776)
> reduce-tune: --sizes: "-5" is not a size (expected *)
> reduce-tune: --sizes: the list of sizes has an empty entry (expected *)
> reduce-tune: --sizes: the list of sizes has an empty entry (expected *)
> reduce-tune: --sizes: "2^10..2^5" is not a range (expected *)
> reduce-tune: --sizes: "3..8" is not a range (expected *)
> reduce-tune: --sizes: "" is not a size (expected *)
> reduce-tune: --sizes: "1e3" is not a size (expected *)
> reduce-tune: --sizes: "2^64" is out of range (expected *)
> reduce-tune: --sizes: "" is not a size (expected *)

== budget: the range is told
$ for b in 0 0s -1s nan inf 10 1e12s 5y 1,5s '' ; do
$ reduce-tune --device cpu --budget "$b" 2> err; echo "$? $(sed -n 1p err)"; done
> 2 reduce-tune: --budget: "0" is not a duration (expected a number and a unit: 500ms, 1.5s, 5m or 2h)
> 2 reduce-tune: --budget: "0s" is out of range (expected 0.1s to 604800s)
> 2 reduce-tune: --budget: "-1s" is out of range (expected 0.1s to 604800s)
> 2 reduce-tune: --budget: "nan" is not a duration (expected *)
> 2 reduce-tune: --budget: "inf" is not a duration (expected *)
> 2 reduce-tune: --budget: "10" is not a duration (expected *)
> 2 reduce-tune: --budget: "1e12s" is out of range (expected 0.1s to 604800s)
> 2 reduce-tune: --budget: "5y" is not a duration (expected *)
> 2 reduce-tune: --budget: "1,5s" is not a duration (expected *)
> 2 reduce-tune: --budget: "" is not a duration (expected *)

== seed-and-threads
$ for o in --seed=-1 --seed=1.5 --seed=18446744073709551616 --threads=0 --threads=4097 --threads=x; do
$ reduce-tune --device cpu $o 2> err; echo "$? $(sed -n 1p err)"; done
> 2 reduce-tune: --seed: "-1" is not a whole number (expected decimal digits alone)
> 2 reduce-tune: --seed: "1.5" is not a whole number (expected decimal digits alone)
> 2 reduce-tune: --seed: "18446744073709551616" is out of range (expected 0 to 18446744073709551615)
> 2 reduce-tune: --threads: "0" is out of range (expected 1 to 4096)
> 2 reduce-tune: --threads: "4097" is out of range (expected 1 to 4096)
> 2 reduce-tune: --threads: "x" is not a whole number (expected decimal digits alone)

== no-device-is-used: the same answers with a device that cannot be opened
$ reduce-tune --device 63 --budget 0s 2> err; echo "$? $(sed -n 1p err)"
$ reduce-tune lookup --device 63 --dtype f32 -n -1 2> err; echo "$? $(sed -n 1p err)"
> 2 reduce-tune: --budget: "0s" is out of range (expected 0.1s to 604800s)
> 2 reduce-tune: -n: "-1" is not a size (expected *)

== chunk
$ reduce-tune reduce none.npy --chunk 0
! reduce-tune: --chunk: "0" is out of range (expected 1 to 281474976710656)
! Try 'reduce-tune help reduce'.
? 2
