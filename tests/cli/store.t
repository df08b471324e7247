# SPDX-License-Identifier: Apache-2.0
# Stores that cannot be used (cases E03, E11): told by name, left alone, never waited for.

== prepare: a good store, and a profile of it
$ reduce-tune --device cpu --ops sum --dtypes f32 --sizes 2^4..2^6 --budget 2s --effort quick > out
$ grep -c '^stored' out; reduce-tune export -o ../good.yaml; cp ../tune.db ../good.db; wc -l < ../good.yaml | sed 's/[0-9][0-9]*/N/'
> 1
> N

== damaged: a file that is no store, at the path of the store
$ : > zero.db; dd if=/dev/urandom of=random.db bs=4096 count=1 2>/dev/null; mkdir folder.db; mkfifo fifo.db; ln -s loop.db loop.db
$ size=$(stat -c %s ../good.db); head -c $((size / 2)) ../good.db > half.db; (head -c 100 ../good.db; head -c 8000 /dev/urandom) > garbage.db
$ cp ../good.db newer.db; sqlite_version() { printf '\000\000\000\143' | dd of="$1" bs=1 seek=60 conv=notrunc 2>/dev/null; }; sqlite_version newer.db
$ for f in zero random folder fifo loop half garbage newer; do
$ find $f.db -type f -exec cksum {} + > before
$ for v in "lookup --device cpu --dtype f32 -n 5" "explain --device cpu --dtype f32 -n 5" show export "import ../good.yaml" "tune --device cpu --ops sum --dtypes f32 --sizes 16 --budget 1s"; do
$ timeout 20 reduce-tune $v --db $f.db > out 2> err; code=$?
$ [ $code = 1 ] && grep -q "^reduce-tune: $f.db: " err && [ "$(wc -l < err)" = 1 ] || echo "$f: $v: $code $(cat err)"; done
$ find $f.db -type f -exec cksum {} + | cmp - before; done; echo done
> done

== damaged-messages
$ for f in zero random folder fifo loop half garbage newer; do reduce-tune show --db $f.db; done
! reduce-tune: zero.db: is empty (0 bytes)
! reduce-tune: random.db: is not an SQLite database
! reduce-tune: folder.db: is a folder
! reduce-tune: fifo.db: is not a regular file
! reduce-tune: loop.db: is a symbolic link (name the file that it leads to)
! reduce-tune: half.db: is truncated or has been added to (* bytes, its header says *)
! reduce-tune: garbage.db: is truncated or has been added to (* bytes, its header says *)
! reduce-tune: newer.db: has format 99, this version knows formats up to * (use a newer reduce-tune)
? 1

== damaged-doctor: each is a finding, and the exit code says so
$ for f in zero random folder fifo loop half garbage newer; do reduce-tune doctor --device cpu --db $f.db > out; echo "$? $(grep -c "^broken *store *$f.db" out)"; done | uniq -c | sed 's/^ *//'
> 8 1 1

== writable-by-others
$ cp ../good.db mode.db; chmod 666 mode.db; reduce-tune lookup --device cpu --dtype f32 -n 5 --db mode.db
! reduce-tune: mode.db: others may write to it, mode 0666 (chmod go-w)
? 1

== missing: a lookup still answers, a list has nothing to list
$ reduce-tune lookup --device cpu --dtype f32 -n 5 --db new.db --json | json-get source
$ reduce-tune show --db new.db
$ reduce-tune export --db new.db
$ RTUNE_DB=new.db reduce-tune show
$ test ! -e new.db
> builtin
! reduce-tune: warning: new.db: no such store; shipped profiles and the built-in configs serve
! reduce-tune: new.db: no such store (reduce-tune --device 0 with the same --db makes it)
! reduce-tune: new.db: no such store (reduce-tune --device 0 with the same --db makes it)
! reduce-tune: new.db: no such store (reduce-tune --device 0 makes it; --db names another)

== none: no store at all
$ reduce-tune lookup --device cpu --dtype f32 -n 16 --db none --json | json-get source predicted_us tuned_n
$ RTUNE_DB=none reduce-tune lookup --device cpu --dtype f32 -n 16 --json | json-get source
$ reduce-tune show --db none
$ reduce-tune doctor --device cpu --db none | grep '^note *store'
> builtin null null
> builtin
> note    store        none: switched off by --db
! reduce-tune: no store is in use (--db FILE names one)

== none-cannot-be-written
$ reduce-tune import ../good.yaml --db none
! reduce-tune: *
? 1

== nothing-for-that-device
$ reduce-tune show --device 'v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0'
! reduce-tune: v1|cuda|*|mig=0: nothing is stored for this device (reduce-tune --device 0 tunes it)
? 1

== home-unset: nothing to write to, and nothing made in the current folder
$ mkdir empty && cd empty && env -i "$(command -v reduce-tune)" lookup --device cpu --dtype f32 -n 5 --json | json-get n
$ for home in unset '' /nonexistent relative/path; do
$ if [ "$home" = unset ]; then set -- env -i; else set -- env -i HOME="$home"; fi
$ "$@" "$(command -v reduce-tune)" devices > ../devices || echo devices; done; ls -A
> 5

== read-only-folder
needs user
$ mkdir ro && chmod 555 ro; reduce-tune import ../good.yaml --db ro/t.db; chmod 755 ro
! reduce-tune: *ro: cannot write to the folder of the store: Permission denied

== home-unset-import: the message names what to set
needs user
$ env -i "$(command -v reduce-tune)" import ../good.yaml
! reduce-tune: *RTUNE_DB*
? 1

== folder-is-a-file
$ : > plain; reduce-tune import ../good.yaml --db plain/t.db
! reduce-tune: *plain*
? 1

== doctor-not-writable
$ reduce-tune doctor --device cpu --db plain/t.db | grep '^broken *writes'
> broken  writes to    plain/t.db: the folder cannot be written (set RTUNE_DB)

== doctor-samples: a name that no store can have
$ reduce-tune doctor --device cpu --db samples.db | grep '^broken *writes'
> broken  writes to    samples.db: this name is for the samples beside a store (name another file)

== doctor-home-unset
needs user
$ env -i "$(command -v reduce-tune)" doctor --device cpu | grep '^broken *writes'
> broken  writes to    there is no place for a store: *

== locked: a store that stays locked is 75
$ cp ../good.db l.db; exec 9> l.db.lock; cat > hold.py <<'END'
$ import fcntl, sys, time
$ fcntl.lockf(9, fcntl.LOCK_EX); fcntl.flock(9, fcntl.LOCK_EX); open('held', 'w').close(); time.sleep(60)
$ END
$ python3 hold.py & holder=$!; wait-until 10 test -e held
$ reduce-tune import ../good.yaml --db l.db; code=$?; kill $holder; exit $code
! reduce-tune: l.db*: *
? 75

== symlinked-folder: a folder may be a link
$ mkdir real && ln -s real linked && reduce-tune import ../good.yaml --db linked/t.db | head -1
> * imported into linked/t.db
