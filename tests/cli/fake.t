# SPDX-License-Identifier: Apache-2.0
# The program on a GPU that is not one: the fake driver of tests/fake runs kernels on the host and invents
# their times. Tune, look up, export, import; several devices; devices that fail.

== devices
needs fake
$ reduce-tune devices --device 0
$ reduce-tune devices --json | json-get devices.0.device devices.0.name devices.0.pci devices.1.device no_gpu
> cuda:0   Fake GPU 0
>   identity  v1|cuda|cc=9.0|sm=132|*
>   driver    *, GPU-*, PCI *
>   memory    * GiB
>   tuned     nothing yet (reduce-tune --device cuda:0)
> cuda:0 Fake GPU 0 0000:3B:00.0 cpu null

== names: a number, a name, a UUID or its beginning, a PCI id
needs fake
$ uuid=$(reduce-tune devices --json | json-get devices.0.uuid)
$ for d in 0 cuda:0 "$uuid" "$(echo "$uuid" | cut -c1-12)" 0000:3b:00.0 3B:00.0; do reduce-tune devices --device "$d" | head -1; done | uniq -c | sed 's/^ *//'
> 6 cuda:0   Fake GPU 0

== no-such-device
needs fake
$ reduce-tune show --device 63 --db none 2> err; reduce-tune devices --device 63
$ reduce-tune devices --device 00:1f.0
$ reduce-tune devices --device GPU-12345678
$ reduce-tune lookup --device 63 --dtype f32 -n 5 2> err; echo $?; wc -l < err
> 1
> 1
! reduce-tune: 63: no such device (`reduce-tune devices` lists them)
! reduce-tune: 00:1f.0: no such device (`reduce-tune devices` lists them)
! reduce-tune: GPU-12345678: no such device (`reduce-tune devices` lists them)

== untuned: the shipped rows of a device like it serve, without any store the built-in config
needs fake
$ reduce-tune lookup --dtype f32 -n 2^20 --json | json-get source device
$ reduce-tune lookup --dtype f32 -n 2^20 --json --db none | json-get source device predicted_us
$ mknpy a.npy 1 2 3.5; reduce-tune reduce a.npy; reduce-tune reduce a.npy --chunk 2
$ mknpy b.npy descr='<i8' count=5000 -3 4; reduce-tune reduce b.npy --chunk 77; reduce-tune reduce b.npy --op min
> similar cuda:0
> builtin cuda:0 null
> 6.5
> 6.5
> 5000
> -3

== bare: everything there is, with a short budget (the fake is slow: large sizes may time out,
# which is told, and makes the status 1)
needs fake
$ reduce-tune --device 0 --config $CASES/data/small.yaml --budget 25s > out; [ $? -le 1 ] && echo ended; sed -n '1,4p' out; tail -1 out; grep -q '^[a-z]* [if][0-9]* wide plain propagate cold n=' out && echo winners
> ended
> device     cuda:0
> identity   v1|cuda|cc=9.0|sm=132|*
> store      SCRATCH/tune.db
> plan       180 problems x * sizes, * instances to compile, about *
> stored     SCRATCH/tune.db
> winners
! ...

== tune: three sizes of one problem are exact afterwards
needs fake
$ reduce-tune --device 0 --ops sum --dtypes f32 --sizes 2^10,2^16,2^20 --config $CASES/data/small.yaml --budget 30s --effort quick --fresh | tail -2
$ for n in 2^10 2^16 2^20; do reduce-tune lookup --dtype f32 -n $n --json | json-get source n tuned_n; done
> done       complete after *
> stored     SCRATCH/tune.db
> exact 1024 1024
> exact 65536 65536
> exact 1048576 1048576

== compiled: how many kernels, and how long the session waited for them; nothing for a cpu
needs fake nvrtc
$ tune="--ops sum --dtypes f32 --sizes 2^10,2^16 --config $CASES/data/small.yaml --effort quick --budget 30s --db c.db"
$ reduce-tune --device 0 $tune | grep '^compiled'
$ reduce-tune --device 0 $tune --json | tail -1 > done; json-get event < done; json-get compiled compile_wait_s < done | awk '{ print ($1 > 0) ($2 > 0) }'
$ reduce-tune --device cpu $tune --json | tail -1 > done; json-get event < done; grep -c compiled done
> compiled   * kernels, waited * s for them
> done
> 11
> done
> 0
? 1

== served: the stored kernel reduces
needs fake
$ mknpy c.npy count=1024 0.5; reduce-tune reduce c.npy --json | json-get value source kernel
> 512 exact stored

== round-trip: identical lookups from an export that is imported elsewhere
needs fake
$ reduce-tune export --device 0 > p.yaml && reduce-tune import p.yaml --db copy.db && reduce-tune export --db copy.db | cmp - p.yaml
$ for op in sum max; do for n in 1 1000 2^10 2^13 2^16 2^20 2^30; do
$ reduce-tune lookup --op $op --dtype f32 -n $n --json | json-get op n config predicted_us tuned_n source grid block > a
$ reduce-tune lookup --op $op --dtype f32 -n $n --json --db copy.db | json-get op n config predicted_us tuned_n source grid block | cmp - a || cat a; done; done
> * imported into copy.db
>   * for v1|cuda|cc=9.0|sm=132|*

== similar: another GPU of the same compute capability is served what was measured on this one
needs fake
$ RTUNE_FAKE_SMS=114 reduce-tune lookup --dtype f32 -n 2^16 --json | json-get source
$ RTUNE_FAKE_CC=8.0 RTUNE_FAKE_SMS=108 reduce-tune lookup --dtype f32 -n 2^16 --json | json-get source
> similar
> builtin

== two-devices: all of them, one after the other
needs fake
$ RTUNE_FAKE_DEVICES=2 RTUNE_FAKE_SMS=132,66 reduce-tune --device all --ops sum --dtypes f32 --sizes 16 --config $CASES/data/small.yaml --budget 20s --effort quick --db two.db | grep '^device'
$ reduce-tune show --db two.db | grep -c '^device'
> device     cuda:0
> device     cuda:1
> device     cpu
> 3

== interrupted
needs fake
$ interrupt INT '"problem"' reduce-tune --device 0 --config $CASES/data/small.yaml --budget 60s --json --db int.db; reduce-tune show --db int.db | grep -c '^device'
> exit 130 in time
> 1

== doctor
needs fake
$ reduce-tune doctor > out; echo $?; grep -E '^ok *(device|workspace|nvml) *cuda:0' out
> 0
> ok      device       cuda:0: Fake GPU 0, driver *, sums correctly
> ok      workspace    cuda:0: * bytes for each reduction in flight
> ok      nvml         cuda:0: SM clock * of * MHz, * C, limit * W, * % busy

== doctor-broken: a device that is there and computes wrongly
needs fake
$ RTUNE_FAKE_FAULTS=wrong=i32 reduce-tune doctor --device 0 > out; echo $?; grep '^broken' out
> 1
> broken  device       cuda:0: the sum of 1000 ones came out as *

== doctor-driver: a driver that does not start
needs fake
$ RTUNE_FAKE_INIT=999 reduce-tune doctor > out; grep -E '^(note|broken) *driver' out
$ RTUNE_FAKE_DEVICES=0 reduce-tune doctor > out; grep -E '^(note|broken) *driver' out
> * driver       no GPU: *
> * driver       no GPU: *

== wrong-candidates: a kernel with a wrong result never wins
needs fake
$ RTUNE_FAKE_FAULTS=wrong=slots reduce-tune --device 0 --ops sum --dtypes i32 --sizes 2^16 --config $CASES/data/small.yaml --budget 30s --db wrong.db > out; tail -2 out | head -1
$ reduce-tune show --db wrong.db --json | grep -c 'finish=slots'
! reduce-tune: warning: sum,i32,*: the built-in kernel gives a wrong result on cuda:0: do not trust this device *
> done       * failed candidates:* correctness*
> 0
? 1
