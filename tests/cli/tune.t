# SPDX-License-Identifier: Apache-2.0
# Tuning the cpu device with tiny sizes: the plan, the lines, what is stored, and how it is interrupted
# (cases F13, E11, G01).

== plan-lines-done: the plan first, a line for each size, the end
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 2^4..2^10 --budget 20s --effort quick
> device     cpu
> identity   v1|cpu|*
> store      SCRATCH/tune.db
> plan       1 problem x 7 sizes, * instances to compile, about *
> sum f32 wide plain propagate cold n=16 * us * block=1,items=*
> ...
> sum f32 wide plain propagate cold n=2^10 * us * block=1,items=*
> done       complete after *: * of * steps*
> stored     SCRATCH/tune.db

== lookups: exact at a tuned size, between two, clamped below; above, only if the config fills the device
$ for n in 16 64 2^10 100 2^15 1; do reduce-tune lookup --device cpu --dtype f32 -n $n --json | json-get n source; done
> 16 exact
> 64 exact
> 1024 exact
> 100 between
> 32768 *
> 1 clamped

== lookup-fields: the object that scripts read
$ reduce-tune lookup --device cpu --op sum --dtype f32 -n 64 --json > l
$ json-get source op dtype acc mode nan cache n variant load map extra < l
$ json-get block items grid finish occupancy predicted_us < l | awk '{ print ($2 > 0) ($3 > 0) ($6 > 0) }'
$ json-get kernel fell_back stale tuned_n device < l
> exact sum f32 wide plain propagate cold 64 cascaded plain chunk {}
> 111
> * false false 64 cpu

== lookup-for-people
$ reduce-tune lookup --device cpu --dtype f32 -n 64
> device     cpu  v1|cpu|*
> problem    sum,f32,wide,plain,propagate,cold,n=64
> source     exact*
> config     block=1,items=*
> launch     threads: *
> predicted  * us at n = 64

== explain: the steps, and the same as JSON lines
$ reduce-tune explain --device cpu --dtype f32 -n 64 | grep -c .
$ reduce-tune explain --device cpu --dtype f32 -n 64 --json | json-get source explain.0
> *
> exact problem:  sum,f32,wide,plain,propagate,cold,n=64

== devices: what is known
$ reduce-tune devices --device cpu | sed 1d
$ reduce-tune devices --json --device cpu | json-get devices.0.device devices.0.tuned.0.sizes
>   identity  v1|cpu|*
>   memory    * GiB
>   tuned     7 sizes in SCRATCH/tune.db
> cpu 7

== reduce-uses-it
$ mknpy a.npy count=16 1 2 3 4; reduce-tune reduce a.npy --device cpu --json | json-get value source
> 160 exact

== show: the table of what was tuned
$ reduce-tune show --device cpu | sed 4,5!d
>
> sum f32  wide plain propagate cold

== round-trip: the same lookups from an exported and imported store
$ reduce-tune export > p.yaml && reduce-tune import p.yaml --db ../copy.db > out
$ for n in 1 16 100 2^10 2^20; do
$ reduce-tune lookup --device cpu --dtype f32 -n $n --json | json-get config predicted_us tuned_n source > a
$ reduce-tune lookup --device cpu --dtype f32 -n $n --json --db ../copy.db | json-get config predicted_us tuned_n source | cmp - a; done

== override: beats the store
$ RTUNE_OVERRIDE='sum,f32:items=16' reduce-tune lookup --device cpu --dtype f32 -n 64 --json | json-get source items
$ RTUNE_OVERRIDE='sum,f32:frobnicate=16' reduce-tune lookup --device cpu --dtype f32 -n 64
> override 16
! reduce-tune: RTUNE_OVERRIDE*
? 1

== json-lines: every line is an object, the plan first, the end last
$ reduce-tune --device cpu --ops max --dtypes i32 --sizes 16,64 --budget 20s --effort quick --json > events
$ json-get --each event < events | uniq | sed -n '1p;$p'
$ json-get --each event op dtype n < events | grep '^problem'
$ tail -1 events | json-get outcome store failures.timeout
> plan
> done
> problem max i32 16
> problem max i32 64
> complete SCRATCH/tune.db 0

== dry-run: the plan, and nothing else
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 16 --dry-run --db dry.db; test ! -e dry.db
> device     cpu
> identity   v1|cpu|*
> store      dry.db
> plan       1 problem x 1 size, * instances to compile, about *

== adds: another session keeps what is there
$ reduce-tune --device cpu --ops min --dtypes f64 --sizes 16 --budget 20s --effort quick > out
$ reduce-tune show --device cpu | grep -c '^[a-z]* [if][0-9]*  wide'
> 3

== dry-run-makes-nothing: not even the folder of the store
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 16 --dry-run --db sub/dry.db > out; test ! -e sub

== config: a search space that cannot be read is told before the device is opened
$ reduce-tune --device cpu --config gone.yaml
$ echo 'nonsense: 1' > bad.yaml; reduce-tune --device 63 --config bad.yaml
$ : > empty.yaml; reduce-tune --device 63 --config empty.yaml
! reduce-tune: gone.yaml: cannot open: No such file or directory
! reduce-tune: bad.yaml:1:*: *
! reduce-tune: empty.yaml:*
? 1

== own-config: a smaller space
$ cp $CASES/data/small.yaml own.yaml; reduce-tune --device cpu --ops sum --dtypes f32 --sizes 16 --budget 20s --config own.yaml --db own.db | tail -1
> stored     own.db

== nothing-decided: without a decision no store is named, and it is no success
$ reduce-tune --device cpu --ops max --dtypes f32 --sizes 1000 --budget 100ms --db none.db | tail -1; test ! -e none.db || echo made
$ reduce-tune --device cpu --ops max --dtypes f32 --sizes 1000 --budget 100ms --db none.db --fresh --json > events; echo $?; tail -1 events | json-get event outcome store stored
> done       budget after *: 0 of 1 steps
> 1
> done budget null 0
! reduce-tune: nothing was decided, nothing is stored (give more --budget; --resume continues)
! reduce-tune: nothing was decided, nothing is stored (give more --budget; --resume continues)

== sigint: what is decided is stored, within 3 s (F13)
$ interrupt INT '"problem"' reduce-tune --device cpu --budget 60s --json --db int.db; cat interrupt.err
$ reduce-tune show --db int.db > shown; grep -c '^device' shown; tail -1 interrupt.out | json-get event outcome
> exit 130 in time
> reduce-tune: interrupted: what was decided is stored (--resume goes on)
> 1
> done interrupted

== sigterm
$ interrupt TERM '"problem"' reduce-tune --device cpu --budget 60s --json --db term.db; reduce-tune show --db term.db > shown && grep -c '^device' shown
> exit 143 in time
> 1

== sighup
$ interrupt HUP '"problem"' reduce-tune --device cpu --budget 60s --json --db hup.db; reduce-tune show --db hup.db > shown && grep -c '^device' shown
> exit 129 in time
> 1

== at-once: a signal right after the plan
$ PAUSE=0 interrupt INT '"plan"' reduce-tune --device cpu --budget 60s --json --db early.db
> exit 130 in time

== one-wish: two signals at once, as timeout(1) sends them, count as one
$ PAUSE=0.001 interrupt INT,INT '"problem"' reduce-tune --device cpu --budget 60s --json --db wish.db; cat interrupt.err
$ reduce-tune show --db wish.db > shown; grep -c '^device' shown
> exit 130 in time
> reduce-tune: interrupted: what was decided is stored (--resume goes on)
> 1

== twice: the second signal leaves at once, and a later run works
$ PAUSE=0.6 interrupt INT,INT '"problem"' reduce-tune --device cpu --budget 60s --json --db twice.db
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 16 --budget 20s --fresh --db twice.db | tail -1
> exit 130 in time
> stored     twice.db

== locked: one session at a time for each device of a store
$ reduce-tune --device cpu --budget 60s --json --db lock.db > held & other=$!; wait-until 60 grep -q trial held
$ reduce-tune --device cpu --ops sum --sizes 16 --budget 1s --db lock.db > out; code=$?; kill -INT $other; wait $other; exit $code
! reduce-tune: lock.db.work-*.lock: another process is tuning this device (wait until it is done)
! reduce-tune: interrupted: *
? 75

== resume: an interrupted session goes on
$ interrupt INT '"problem"' reduce-tune --device cpu --ops sum --sizes 2^4..2^16 --budget 60s --json --db resume.db
$ reduce-tune --device cpu --ops sum --sizes 2^4..2^16 --budget 60s --effort quick --resume --db resume.db > out; echo $?; tail -1 out
> exit 130 in time
> 0
> stored     resume.db

== closed-pipe: a reader that is gone ends it soon, and the store is whole
$ start=$(date +%s); reduce-tune --device cpu --budget 100s --db pipe.db | head -1; [ $(($(date +%s) - start)) -lt 30 ] && echo soon
$ if [ -e pipe.db ]; then reduce-tune show --db pipe.db > shown; fi
> device     cpu
> soon

== terminal: a progress line with the time left in place of the lines; it is gone at the end
$ on-terminal reduce-tune --device cpu --ops sum --dtypes f32 --sizes 2^4..2^10 --budget 20s --effort quick --db term.db > shown
$ grep -c '^sum' shown; grep -q '^\[[#.]*\] [0-9]*/7  .* left  sum f32 n=.*ESC\[K$' shown && echo progress; tail -2 shown
> 0
> progress
> *done       complete after *: 7 of 7 steps*
> stored     term.db

== colours: on a terminal, unless NO_COLOR or TERM=dumb says no
$ on-terminal reduce-tune show --db term.db | grep -c 'ESC\[1msum f32ESC\[0m'; NO_COLOR=1 on-terminal reduce-tune show --db term.db | grep -c ESC; reduce-tune show --db term.db | grep -c "$(printf '\033')"
> 1
> 0
> 0
? 1

== full-disk: output that cannot be written is an error
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 16 --budget 20s --effort quick --db full.db > /dev/full
! reduce-tune: standard output: No space left on device
? 1

== no-gpu: in one line what is missing, and nothing is made (G01)
needs nogpu
$ reduce-tune --device 0 --budget 5s --db gpu.db; code=$?; test ! -e gpu.db || echo made; exit $code
! reduce-tune: *libcuda.so.1*
? 1

== no-gpu-verbs: what works without one
needs nogpu
$ reduce-tune devices | tail -1; reduce-tune devices --json | json-get no_gpu
$ reduce-tune doctor --db none > out; echo $?; grep '^note *driver' out
$ reduce-tune lookup --device cuda:0 --dtype f32 -n 5
> no GPU: libcuda.so.1: *
> libcuda.so.1: *
> 0
> note    driver       no GPU: libcuda.so.1: *
! reduce-tune: *libcuda.so.1*
? 1

== not-linked: no library of CUDA is linked (G01)
$ ldd "$(command -v reduce-tune)" | grep -ciE 'cuda|nvrtc|nvidia'
> 0
? 1

== unwritable: the store's folder cannot be written
needs user
$ mkdir ro; chmod 555 ro; reduce-tune --device cpu --ops sum --sizes 16 --budget 2s --db ro/t.db; code=$?; chmod 755 ro; exit $code
! reduce-tune: *ro: cannot write to the folder of the store: Permission denied
? 1

== nothing-left: no core, and no work database of a session that ended by itself
$ ls core* own.db.work-????????????????  2> /dev/null
? 2
