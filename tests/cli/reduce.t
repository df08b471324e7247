# SPDX-License-Identifier: Apache-2.0
# reduce: values, .npy headers read strictly, raw data, standard input, pieces.

== value: a float as %.17g, an integer exactly
$ mknpy a.npy 1 2 3.5 -0.25
$ mknpy b.npy descr='<i4' 2147483647 2147483647 1
$ mknpy c.npy descr='<f8' 0.1 0.2
$ mknpy d.npy descr='<i8' -9223372036854775808 5
$ for op in sum min max prod; do reduce-tune reduce a.npy --op $op --device cpu; done
$ reduce-tune reduce b.npy --device cpu
$ reduce-tune reduce b.npy --device cpu --acc native
$ reduce-tune reduce c.npy --device cpu
$ reduce-tune reduce d.npy --device cpu --op min
> 6.25
> -0.25
> 3.5
> -1.75
> 4294967295
> -1
> 0.30000000000000004
> -9223372036854775808

== types: every one that NumPy has, bool as bytes
$ for d in '|i1' '|u1' '<i2' '<u2' '<i4' '<u4' '<i8' '<u8' '<f2' '<f4' '<f8' '|b1'; do
$ mknpy y.npy 1 0 1 1 descr="$d"; reduce-tune reduce y.npy --device cpu; done | uniq -c | sed 's/^ *//'
$ printf '\200?\000@\000\300' | reduce-tune reduce - --dtype bf16 --device cpu
$ mknpy h.npy 0.1 65504 descr='<f2'
$ for a in wide native; do reduce-tune reduce h.npy --acc $a --device cpu; done
$ reduce-tune reduce h.npy --op min --device cpu
> 12 3
> 1
> 65504.1015625
> 65504
> 0.0999755859375

== ops: each prints what it has
$ mknpy o.npy 3 -5 0 -5 9 descr='<i4'; mknpy q.npy 1 2 3 4 5 descr='<i4'
$ for op in sum sumsq asum prod min max minmax argmin argmax any all count_nonzero band bor bxor; do
$ echo "$op $(reduce-tune reduce o.npy --op $op --device cpu)"; done
$ reduce-tune reduce o.npy q.npy --op dot --device cpu
$ reduce-tune reduce o.npy --op argmax --device cpu --json | json-get value index op
$ reduce-tune reduce o.npy --op minmax --device cpu --json | json-get min max op
> sum 2
> sumsq 140
> asum 22
> prod 0
> min -5
> max 9
> minmax -5 9
> argmin -5 1
> argmax 9 4
> any 1
> all 0
> count_nonzero 4
> band 0
> bor -5
> bxor 10
> 18
> 9 4 argmax
> -5 9 minmax

== two-files: for dot alone, and alike
$ reduce-tune reduce o.npy q.npy --device cpu
$ reduce-tune reduce o.npy --op dot --device cpu
$ mknpy p.npy 1 2 descr='<i4'; reduce-tune reduce o.npy p.npy --op dot --device cpu
$ reduce-tune reduce o.npy a.npy --op dot --device cpu
$ reduce-tune reduce - - --op dot --dtype f64 -n 1 --device cpu < o.npy
! reduce-tune: --op sum: takes one file
! Try 'reduce-tune help reduce'.
! reduce-tune: --op dot: takes two files
! Try 'reduce-tune help reduce'.
! reduce-tune: o.npy and p.npy: not equally many elements of one type
! reduce-tune: o.npy and a.npy: not equally many elements of one type
! reduce-tune: -: standard input is read once (give a file)
! Try 'reduce-tune help reduce'.
? 2

== modes: kahan, reproducible; fixed as an integer, with a word about what did not fit
$ mknpy k.npy 1 1e30 1 -1e30 descr='<f8'; mknpy x.npy 0.25 nan 1e30 -1 descr='<f8'; mknpy w.npy 0.5 1.5 2.5
$ for m in plain kahan reproducible; do reduce-tune reduce k.npy --mode $m --device cpu; done
$ reduce-tune reduce w.npy --mode fixed --device cpu
$ reduce-tune reduce w.npy --mode fixed --scale 10 --device cpu
$ reduce-tune reduce x.npy -n 2 --mode fixed --scale 4 --device cpu
$ reduce-tune reduce x.npy --mode fixed --device cpu --json 2> err | json-get value flags; cat err
$ reduce-tune reduce w.npy --scale 10 --device cpu
$ for s in 0 nan x 1e400; do reduce-tune reduce w.npy --mode fixed --scale $s --device cpu 2>&1 | sed -n 1p; done
> 0
> 2
> 2
> 4
> 45
> 1
> 9223372036854775806 3
> reduce-tune: warning: x.npy: some terms x scale are beyond 64 bits and count as the nearest integer, and some are NaN and count as 0
> reduce-tune: --scale: 0 is no scale
> reduce-tune: --scale: *
> reduce-tune: --scale: *
> reduce-tune: --scale: *
! reduce-tune: warning: x.npy: some terms are NaN and count as 0
! reduce-tune: --scale: mode plain has none (use --mode fixed)
! Try 'reduce-tune help reduce'.

== pieces-of-every-op: the same as the whole, the first extreme and the first NaN too
$ mknpy g.npy 4 -7 9 9 -7 0 2 nan 9 nan 1 descr='<f4'; mknpy j.npy 200 7 255 0 7 255 0 descr='|u1'
$ for f in g j; do for n in propagate ignore; do
$ for op in sum asum sumsq prod min max minmax argmin argmax any all count_nonzero; do
$ for c in 1 2 3 5 100; do echo "$f $n $op $(reduce-tune reduce $f.npy --op $op --nan $n --chunk $c --device cpu)"; done; done; done; done | sort -u > out
$ wc -l < out; grep arg out; reduce-tune reduce j.npy j.npy --op dot --chunk 2 --device cpu
> 48
> g ignore argmax 9 2
> g ignore argmin -7 1
> g propagate argmax nan 7
> g propagate argmin nan 7
> j ignore argmax 255 2
> j ignore argmin 0 3
> j propagate argmax 255 2
> j propagate argmin 0 3
> 170148
$ reduce-tune reduce w.npy --mode reproducible --chunk 2 --device cpu
! reduce-tune: mode reproducible: the elements do not fit on the device at once, and in pieces the bits would be others (give a larger --chunk, or another device or mode)
? 1

== special: NaN, infinities and signed zero
$ mknpy n.npy 1 nan 2; mknpy z.npy 0 -0.0; mknpy i.npy inf 1
$ reduce-tune reduce n.npy --op max --device cpu
$ reduce-tune reduce n.npy --op max --nan ignore --device cpu
$ reduce-tune reduce z.npy --op min --device cpu
$ reduce-tune reduce i.npy --device cpu
$ reduce-tune reduce i.npy --device cpu --json | json-get value op dtype n device
> nan
> 2
> -0
> inf
> inf sum f32 2 cpu

== shapes: any shape is flattened, in the order stored
$ for s in '(2, 3)' '(6,)' '(1, 6, 1)' '(2,3,)'; do
$ mknpy s.npy 1 2 3 4 5 6 shape="$s"; reduce-tune reduce s.npy --device cpu; done
$ mknpy s.npy 1 2 3 4 5 6 shape='(2, 3)' order=True; reduce-tune reduce s.npy --device cpu
$ mknpy s.npy 7 shape='()'; reduce-tune reduce s.npy --device cpu
> 21
> 21
> 21
> 21
> 21
> 7

== versions and byte orders that are this machine's
$ for v in 1 2 3; do mknpy v.npy 1 2 version=$v; reduce-tune reduce v.npy --device cpu; done
$ mknpy v.npy 1 2 descr='=f4'; reduce-tune reduce v.npy --device cpu
$ mknpy v.npy 1 2 pad=0; reduce-tune reduce v.npy --device cpu
$ mknpy v.npy 1 2 header='{"shape":(2,),"fortran_order":False,"descr":"<f4"}'; reduce-tune reduce v.npy --device cpu
> 3
> 3
> 3
> 3
> 3
> 3

== empty: the identity, or no value
$ mknpy e.npy shape='(0,)'; mknpy f.npy shape='(3, 0)'
$ reduce-tune reduce e.npy --device cpu
$ reduce-tune reduce f.npy --device cpu --op prod
$ reduce-tune reduce e.npy --device cpu --op max
> 0
> 1
! reduce-tune: e.npy: *
? 1

== raw: bytes without a header
$ mknpy r.bin raw=1 descr='<i8' 1 2 3
$ reduce-tune reduce r.bin --dtype i64 --device cpu
$ reduce-tune reduce r.bin --dtype i64 -n 2 --device cpu
$ reduce-tune reduce r.bin --device cpu
> 6
> 3
! reduce-tune: r.bin: is no .npy file (give --dtype for raw data)
? 1

== raw-part-of-an-element
$ mknpy r.bin raw=1 descr='<i8' 1 2 3 add=3
$ reduce-tune reduce r.bin --dtype i64 --device cpu
! reduce-tune: r.bin: 27 bytes are no whole number of i64 elements
? 1

== stdin: .npy and raw, from a pipe and from a file
$ mknpy - 1 2 3 | reduce-tune reduce - --device cpu
$ mknpy - raw=1 descr='<i4' 4 5 6 | reduce-tune reduce - --dtype i32 --device cpu
$ mknpy in.npy 1 2 3; reduce-tune reduce - --device cpu < in.npy
> 6
> 15
> 6

== stdin-short-and-long
$ mknpy - 1 2 3 cut=5 | reduce-tune reduce - --device cpu
$ mknpy - 1 2 3 add=1 | reduce-tune reduce - --device cpu
$ mknpy - raw=1 1 2 3 cut=1 | reduce-tune reduce - --dtype f32 --device cpu
$ mknpy - raw=1 1 2 3 | reduce-tune reduce - --dtype f32 -n 4 --device cpu
$ mknpy - 1 2 3 cut=20 | head -c 30 | reduce-tune reduce - --device cpu
$ printf '\223NUMPY\001' | reduce-tune reduce - --device cpu
! reduce-tune: standard input: is truncated (1 whole elements, expected more)
! reduce-tune: standard input: has data after its end (3 elements)
! reduce-tune: standard input: is truncated (2 whole elements, expected no part of one after them)
! reduce-tune: standard input: is truncated (3 whole elements, expected more)
! reduce-tune: standard input: ends within the header
! reduce-tune: standard input: ends within the header
? 1

== first-elements: -n takes the beginning
$ mknpy a.npy 1 2 3 4; reduce-tune reduce a.npy -n 3 --device cpu
$ reduce-tune reduce a.npy -n 5 --device cpu
> 6
! reduce-tune: -n 5: a.npy holds 4 elements
? 1

== pieces: what does not fit at once accumulates to the same value
$ mknpy p.npy descr='<i8' count=1000 1 2 3 4 5 6 7
$ for c in 1 3 7 4096 6999 7000 7001; do reduce-tune reduce p.npy --chunk $c --device cpu; done | uniq -c | sed 's/^ *//'
$ reduce-tune reduce p.npy --chunk 100 --op max --device cpu
$ reduce-tune reduce p.npy --chunk 100 --op max --device cpu --json | json-get n value
> 7 28000
> 7
> 7000 7

== type-of-the-file: --dtype must agree
$ mknpy a.npy 1 2; reduce-tune reduce a.npy --dtype f32 --device cpu
$ reduce-tune reduce a.npy --dtype f64 --device cpu
> 3
! reduce-tune: --dtype f64: a.npy holds f32 (leave --dtype out)
? 1

== big-endian
$ mknpy b.npy 1 2 descr='>f4'; reduce-tune reduce b.npy --device cpu
! reduce-tune: b.npy: big-endian elements >f4 (convert them: a.astype('<f4'))
? 1

== other-types: named
$ for d in '|b8' '<c8' '<U3' '|f4' 'f4' '' '<M8[ns]'; do
$ mknpy t.npy 1 descr="$d"; reduce-tune reduce t.npy --device cpu; done
$ mknpy t.npy header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }" 1; reduce-tune reduce t.npy --device cpu
! reduce-tune: t.npy: element type |b8 (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type <c8 (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type <U3 (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type |f4 (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type f4 (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type  (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: element type <M8[ns] (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)
! reduce-tune: t.npy: a structured element type (save one field by itself)
? 1

== truncated-and-trailing: both sizes are told
$ mknpy t.npy 1 2 3 cut=1; reduce-tune reduce t.npy --device cpu
$ mknpy t.npy 1 2 3 add=7; reduce-tune reduce t.npy --device cpu
! reduce-tune: t.npy: is truncated (its header says 12 bytes of elements, 11 follow)
! reduce-tune: t.npy: has data after its end (its header says 12 bytes of elements, 19 follow)
? 1

== malformed-headers: every one is refused, none crashes
$ try() { mknpy m.npy 1 2 header="$1"; reduce-tune reduce m.npy --device cpu 2>&1; }
$ try ""
$ try "nothing"
$ try "{'descr': '<f4', 'fortran_order': False}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (3,)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}"
$ try "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': 2}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)"
$ try "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape' (2,)}"
$ try "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"
$ try "{'descr': '<f4"
$ try "{descr: '<f4'}"
$ try "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}"
> reduce-tune: m.npy: malformed header: expected a dict
> reduce-tune: m.npy: malformed header: expected a dict
> reduce-tune: m.npy: malformed header: expected the keys 'descr', 'fortran_order' and 'shape'
> reduce-tune: m.npy: malformed header: expected every key once
> reduce-tune: m.npy: malformed header: expected the keys 'descr', 'fortran_order' and 'shape' alone
> reduce-tune: m.npy: malformed header: expected True or False after 'fortran_order'
> reduce-tune: m.npy: malformed header: expected a comma after the only dimension
> reduce-tune: m.npy: malformed header: expected a tuple after 'shape'
> reduce-tune: m.npy: malformed header: expected a comma or ) in 'shape'
> reduce-tune: m.npy: malformed header: expected a number in 'shape'
> reduce-tune: m.npy: malformed header: expected a comma or } in the dict
> reduce-tune: m.npy: malformed header: expected a comma or } in the dict
> reduce-tune: m.npy: malformed header: expected a colon after a key
> reduce-tune: m.npy: malformed header: expected nothing after the dict
> reduce-tune: m.npy: malformed header: expected a quoted element type after 'descr'
> reduce-tune: m.npy: malformed header: expected a quoted key
> reduce-tune: m.npy: malformed header: expected a quoted element type after 'descr'
? 1

== no-newline: the header ends in one
$ printf "\223NUMPY\001\000\002\000{}" > m.npy; reduce-tune reduce m.npy --device cpu
! reduce-tune: m.npy: malformed header: expected a newline at its end
? 1

== shapes-that-overflow
$ try() { mknpy m.npy 1 shape="$1"; reduce-tune reduce m.npy --device cpu 2>&1; }
$ try "(99999999999999999999,)"
$ try "(4294967296, 4294967296)"
$ try "(4611686018427387904,)"
$ try "($(yes 1, | head -65 | tr -d '\n'))"
> reduce-tune: m.npy: a dimension above 2^64
> reduce-tune: m.npy: a shape of more than 2^64 elements
> reduce-tune: m.npy: a shape of more than 2^63 bytes
> reduce-tune: m.npy: more than 64 dimensions
? 1

== versions-and-lengths-of-the-header
$ mknpy m.npy 1 version=4; reduce-tune reduce m.npy --device cpu
$ printf '\223NUMPY\001\001\020\000 ' > m.npy; dd if=/dev/zero bs=64 count=1 2>/dev/null >> m.npy; reduce-tune reduce m.npy --device cpu
$ printf '\223NUMPY\002\000\377\377\377\177' > m.npy; reduce-tune reduce m.npy --device cpu
$ printf '\223NUMPY\001\000\000\000\n\n' > m.npy; reduce-tune reduce m.npy --device cpu
$ printf '\223NUMPY\001\000\377\000\n\n' > m.npy; reduce-tune reduce m.npy --device cpu
! reduce-tune: m.npy: format version 4.0 (1.0, 2.0 and 3.0 can be read)
! reduce-tune: m.npy: format version 1.1 (1.0, 2.0 and 3.0 can be read)
! reduce-tune: m.npy: a header of 2147483647 bytes (expected 2 to 65535)
! reduce-tune: m.npy: a header of 0 bytes (expected 2 to 65535)
! reduce-tune: m.npy: ends within the header
? 1

== no-file
$ reduce-tune reduce gone.npy --device cpu
$ reduce-tune reduce . --device cpu
! reduce-tune: gone.npy: cannot open: No such file or directory
! reduce-tune: .: is a folder (give a file)
? 1

== fifo: a named pipe is read like any other
$ mkfifo pipe; mknpy pipe 1 2 3 & reduce-tune reduce pipe --device cpu
> 6

== read-error
$ reduce-tune reduce /proc/self/mem --dtype f32 --device cpu
! reduce-tune: /proc/self/mem: cannot read: Input/output error
? 1

== unreadable
needs user
$ mknpy u.npy 1; chmod 0 u.npy; reduce-tune reduce u.npy --device cpu
! reduce-tune: u.npy: cannot open: Permission denied
? 1

== random-bytes: a seeded flood of damaged headers ends in a message, never in a crash
$ cat > damage.py <<'END'
$ import os, random, subprocess
$ seed = int(os.environ.get('RTUNE_TEST_SEED', 1)); rng = random.Random(seed); print('seed', seed)
$ whole = open('a.npy', 'rb').read(); codes = set()
$ for _ in range(100):
$     data = bytearray(whole)
$     for _ in range(rng.randrange(1, 6)): data[rng.randrange(len(data))] = rng.randrange(256)
$     open('x.npy', 'wb').write(data[:rng.randrange(len(data) + 1)] if rng.random() < .3 else data)
$     done = subprocess.run(['reduce-tune', 'reduce', 'x.npy', '--device', 'cpu'], capture_output=True)
$     codes.add(done.returncode); assert done.returncode != 1 or done.stderr, 'no message'
$ assert codes <= {0, 1}, codes
$ END
$ mknpy a.npy 1 2 3 4; python3 damage.py
> seed *
