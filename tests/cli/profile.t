# SPDX-License-Identifier: Apache-2.0
# export, import and show: profiles round trip, bad ones leave the store as it was (cases E17, F01, F03,
# F07, F09, F11).

== import: a device of another machine is kept under its own identity
$ reduce-tune import $CASES/data/h200.yaml
> 5 imported into SCRATCH/tune.db
>   5 for v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0 (not a device of this machine: kept under its own identity)

== import-json
$ reduce-tune import $CASES/data/h200.yaml --json --db j.db | json-get imported store devices.0.imported devices.0.here
> 5 j.db 5 false

== show: a table for each problem
$ reduce-tune show
> store  SCRATCH/tune.db (RTUNE_DB)
>
> device v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0  NVIDIA H200
>
> sum f32  wide plain propagate cold
>   n                                      us     gain  config
>   0..2047                              3.50    1.29x  block=256,items=16,grid=1,load=noncoherent,finish=one,map=strip,occupancy=0
>   2^11..8191                           4.50    1.22x  block=512,items=16,grid=1xsm,load=noncoherent,finish=slots,map=strip,occupancy=0
>   2^13..                               6.50    1.15x  block=512,items=32,grid=4xsm,load=noallocate,finish=slots,map=strip,occupancy=2
>
> max i64  wide plain propagate cold
>   n                                      us     gain  config
>   0..2047                              3.50    1.29x  block=256,items=8,grid=1,load=plain,finish=one,map=strip,occupancy=0
>   2^11..                               4.50        -  block=512,items=8,grid=1xsm,load=plain,finish=last,map=chunk,occupancy=0

== show-nothing: no winner is of what was asked for
$ reduce-tune show --ops dot
> store  SCRATCH/tune.db (RTUNE_DB)
>
> device v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0  NVIDIA H200
>   no winners of these problems

== show-escapes: what a profile says does nothing to a terminal
$ sed 's/NVIDIA H200/\\x1b[31mRED\\n/' $CASES/data/h200.yaml > esc.yaml; reduce-tune import esc.yaml --db esc.db > out; reduce-tune show --db esc.db | sed -n '3p'
> device v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0  ?[31mRED?

== show-filter
$ reduce-tune show --ops max | grep -c 'max i64'; reduce-tune show --ops max | grep -c sum
> 1
> 0
? 1

== show-json
$ reduce-tune show --json --dtypes i64 | json-get stores.0.devices.0.winners.1.n_to stores.0.devices.0.winners.1.default_us stores.0.devices.0.winners.0.us
> 18446744073709551615 null 3.5

== merged: neighbours with one config are one line
$ sed '/n: 4096/s/config: "[^"]*"/config: "block=256,items=16,grid=1,load=noncoherent,finish=one,map=strip,occupancy=0"/; /op: max/,$d' $CASES/data/h200.yaml > m.yaml
$ reduce-tune import m.yaml --db m.db > out; reduce-tune show --db m.db | sed -n '7,8p'
>   0..8191                        3.50..4.50    1.25x  block=256,items=16,grid=1,load=noncoherent,finish=one,map=strip,occupancy=0
>   2^13..                               6.50    1.15x  block=512,items=32,grid=4xsm,load=noallocate,finish=slots,map=strip,occupancy=2

== round-trip: exporting what was imported gives the same bytes
$ reduce-tune export > a.yaml && reduce-tune import a.yaml --db b.db > out && reduce-tune export --db b.db > b.yaml && cmp a.yaml b.yaml
$ grep -v '^#' $CASES/data/h200.yaml > want; grep -v '^#' a.yaml > got
$ sort want | grep '{n:' > w; sort got | grep '{n:' > g; cmp w g
$ reduce-tune export -o c.yaml && reduce-tune export --output=d.yaml --device 'v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0' && cmp a.yaml c.yaml && cmp a.yaml d.yaml
$ reduce-tune export | reduce-tune import - --db e.db | head -1
> 5 imported into e.db

== locale: files are byte-equal whatever the locale (F11)
$ for l in de_DE.UTF-8 fr_FR.UTF-8 tr_TR.UTF-8; do LC_ALL=$l reduce-tune export > l.yaml && cmp a.yaml l.yaml
$ LC_ALL=$l reduce-tune import l.yaml --db l.db > out && LC_ALL=$l reduce-tune export --db l.db | cmp - a.yaml; done
$ mknpy f.npy 1.5 2.25; LC_ALL=de_DE.UTF-8 reduce-tune reduce f.npy --device cpu
> 3.75

== export-atomic: a failed export leaves the old file
$ echo old > keep.yaml; reduce-tune export --db gone.db -o keep.yaml 2> /dev/null; echo $?; cat keep.yaml
$ reduce-tune export -o .
$ reduce-tune export -o no/such/folder/x.yaml
> 1
> old
! reduce-tune: .: is not a regular file (name a regular file)
! reduce-tune: no/such/folder/x.yaml: cannot create: No such file or directory
? 1

== all-or-nothing: ten good rows and a bad one import nothing (E17)
$ cksum ../tune.db > before; sed 's/n: 4096, from: 2048, to: 1844/n: 4096, from: 1000, to: 1844/' $CASES/data/h200.yaml > bad.yaml
$ reduce-tune import bad.yaml; code=$?; cksum ../tune.db | cmp - before; exit $code
! reduce-tune: bad.yaml:*: *
? 1

== no-file
$ reduce-tune import gone.yaml
$ reduce-tune import .
! reduce-tune: gone.yaml: cannot open: No such file or directory
! reduce-tune: .: is a folder (expected a regular file)
? 1

== empty: no document, or not a profile (F07)
$ try() { printf '%b' "$1" > e.yaml; reduce-tune import e.yaml 2>&1; echo "$?"; }
$ try ''; try '\n'; try '# x\n'; try '---\n...\n'; try 'null\n'; try 'scalar\n'; try '[1, 2]\n'; try '%YAML 9.9\n---\na: 1\n'
> reduce-tune: e.yaml:1:1: no profile found: the file is empty
> 1
> reduce-tune: e.yaml:*: no profile found*
> 1
> reduce-tune: e.yaml:*: no profile found*
> 1
> reduce-tune: e.yaml:*: *
> 1
> reduce-tune: e.yaml:*: *
> 1
> reduce-tune: e.yaml:*: *
> 1
> reduce-tune: e.yaml:*: *
> 1
> reduce-tune: e.yaml:*: *
> 1

== two-documents
$ (cat $CASES/data/h200.yaml; echo ---; cat $CASES/data/h200.yaml) > two.yaml; reduce-tune import two.yaml
! reduce-tune: two.yaml:*: *one document*
? 1

== bombs: refused with a line, at once (F01)
$ cat > bomb.yaml <<'END'
$ a: &a [x, x, x, x, x, x, x, x, x, x]
$ b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
$ c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
$ END
$ printf 'a: ' > deep.yaml; head -c 20000 /dev/zero | tr '\0' '[' >> deep.yaml; echo 'a: &x [*x]' > self.yaml
$ for f in bomb deep self; do timeout 5 reduce-tune import $f.yaml; echo $?; done
> 1
> 1
> 1
! reduce-tune: bomb.yaml:1:*: *
! reduce-tune: deep.yaml:1:*: *
! reduce-tune: self.yaml:1:*: *

== duplicate-keys: both lines are named (F03)
$ sed 's/^        dtype: f32/        dtype: f32\n        dtype: f64/' $CASES/data/h200.yaml > dup.yaml; reduce-tune import dup.yaml
$ (cat $CASES/data/h200.yaml; echo 'devices: []') > sections.yaml; reduce-tune import sections.yaml
$ sed 's/op: max/op: sum/; s/dtype: i64/dtype: f32/' $CASES/data/h200.yaml > tuple.yaml; reduce-tune import tuple.yaml
! reduce-tune: dup.yaml:*: *line 13*line 14*
! reduce-tune: sections.yaml:*: *line 4*line *
! reduce-tune: tuple.yaml:*: a problem is given twice: on line * and on line *
? 1

== numbers: no wrap, no sign, no fraction (F09)
$ try() { sed "s/n: 4096, from: 2048, to: 8191/$1/; s/block=512,items=16/$2/" $CASES/data/h200.yaml > n.yaml; reduce-tune import n.yaml 2>&1 | cut -d: -f1-3; }
$ try 'n: -4096, from: 2048, to: 8191' same; try 'n: 4096.5, from: 2048, to: 8191' x; try 'n: 18446744073709551616, from: 2048, to: 8191' x
$ try 'n: 1e3, from: 2048, to: 8191' x; try 'n: 0x1000, from: 2048, to: 8191' x; try 'n: , from: 2048, to: 8191' x
$ try 'n: 4096, from: 2048, to: 8191' 'block=4294967552,items=16'; try 'n: 4096, from: 2048, to: 8191' 'block=-512,items=16'
$ try 'n: 4096, from: 2048, to: 8191' 'block=33,items=16'
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*
> reduce-tune: n.yaml:*

== too-large
$ (cat $CASES/data/h200.yaml; head -c 1100000 /dev/zero | tr '\0' '#') > large.yaml; reduce-tune import large.yaml
$ reduce-tune import - < large.yaml
! reduce-tune: large.yaml: file is too large (at most 1048576 bytes)
! reduce-tune: standard input: *
? 1

== import-for-one-device: the others are left out
$ reduce-tune import $CASES/data/h200.yaml --device cpu --db o.db
! reduce-tune: */h200.yaml: has nothing for cpu
? 1

== closed-input
$ reduce-tune import - <&-
! reduce-tune: standard input: cannot read: Bad file descriptor
? 1

== nothing-to-export: a store without winners
$ printf 'rtune_profile: 1\ndevices: []\n' > none.yaml; reduce-tune import none.yaml --db none.db
$ reduce-tune export --db none.db
> 0 imported into none.db
! reduce-tune: none.db: nothing is stored (reduce-tune --device 0)
? 1

== full-disk: a failed write of standard output is an error
$ reduce-tune export > /dev/full
! reduce-tune: standard output: No space left on device
? 1

== closed-pipe: a reader that is gone does no harm
$ reduce-tune show | head -1 > out; cat out; reduce-tune help | true
> store  SCRATCH/tune.db (RTUNE_DB)
