# SPDX-License-Identifier: Apache-2.0
# The command line: verbs, options, help, and every usage error. Nothing here touches a device or a file.

== bare: no device, no guess
$ reduce-tune
! reduce-tune: nothing to do: no device was named (reduce-tune --device 0 tunes the first GPU, reduce-tune --device cpu this processor)
! Try 'reduce-tune help'.
? 2

== version: one line for people, one for support
$ reduce-tune --version
> reduce-tune *.*.*
> librtune *.*.*, kernel abi *, kernel sources *

== version-short
$ reduce-tune -V | head -1
> reduce-tune *

== help: every visible verb, no hidden one
$ reduce-tune --help | grep '^  [a-z]* * [a-z]' | awk '{print $1}' | grep -v reduce-tune
$ reduce-tune help | grep -c worker
> tune
> devices
> show
> lookup
> explain
> reduce
> export
> import
> doctor
> completion
> help
> 0
? 1

== help-verb: three spellings of one help
$ reduce-tune help show > a && reduce-tune show --help > b && reduce-tune show -h > c
$ cmp a b && cmp b c && head -1 a
> Usage: reduce-tune show [OPTION]...

== help-unknown
$ reduce-tune help shwo
! reduce-tune: help shwo: no such verb
! Try 'reduce-tune help'.
? 2

== help-hidden: a hidden verb has no help
$ reduce-tune help worker
! reduce-tune: help worker: no such verb
! Try 'reduce-tune help'.
? 2

== unknown-verb: the nearest one is suggested
$ reduce-tune shwo
! reduce-tune: "shwo": unknown verb (did you mean show?)
! Try 'reduce-tune help'.
? 2

== unknown-verb-far
$ reduce-tune frobnicate
! reduce-tune: "frobnicate": unknown verb
! Try 'reduce-tune help'.
? 2

== unknown-option: the nearest one is suggested
$ reduce-tune --devcie cpu
! reduce-tune: --devcie: unknown option (did you mean --device?)
! Try 'reduce-tune help tune'.
? 2

== unknown-option-prefix: a beginning finds its option
$ reduce-tune lookup --dev cpu
! reduce-tune: --dev: unknown option (did you mean --device?)
! Try 'reduce-tune help lookup'.
? 2

== unknown-option-far
$ reduce-tune --frobnicate
! reduce-tune: --frobnicate: unknown option
! Try 'reduce-tune help tune'.
? 2

== unknown-letter
$ reduce-tune lookup -q
! reduce-tune: -q: unknown option
! Try 'reduce-tune help lookup'.
? 2

== option-of-another-verb
$ reduce-tune lookup --budget 5s
! reduce-tune: --budget: unknown option
! Try 'reduce-tune help lookup'.
? 2

== no-value
$ reduce-tune --device
! reduce-tune: --device: needs a value (DEVICE)
! Try 'reduce-tune help tune'.
? 2

== empty-value
$ reduce-tune --device=
! reduce-tune: --device: must not be empty
! Try 'reduce-tune help tune'.
? 2

== flag-with-value
$ reduce-tune --device cpu --json=yes
! reduce-tune: --json: takes no value
! Try 'reduce-tune help tune'.
? 2

== verb-after-options
$ reduce-tune --device cpu show
! reduce-tune: "show": unexpected argument (tune takes options only; a verb comes first)
! Try 'reduce-tune help tune'.
? 2

== too-many-arguments
$ reduce-tune import a b
! reduce-tune: "b": unexpected argument (import takes FILE)
! Try 'reduce-tune help import'.
? 2

== argument-with-an-escape: shown as text, and not whole
$ reduce-tune import a "$(printf '\033[31mred\n')"; reduce-tune import a "$(head -c 3000 /dev/zero | tr '\0' x)" 2>&1 | wc -c | awk '{ print ($1 < 200) }'
> 1
! reduce-tune: "\x1b[31mred": unexpected argument (import takes FILE)
! Try 'reduce-tune help import'.

== far-too-many-arguments
$ reduce-tune import a b c d e
! reduce-tune: "e": too many arguments
! Try 'reduce-tune help import'.
? 2

== missing-argument
$ reduce-tune reduce --op sum
! reduce-tune: reduce: needs FILE [FILE]
! Try 'reduce-tune help reduce'.
? 2

== tune-without-device
$ reduce-tune tune --budget 5s
! reduce-tune: --device: is needed (0 is the first GPU, cpu this processor)
! Try 'reduce-tune help tune'.
? 2

== contradiction
$ reduce-tune --device cpu --resume --fresh
! reduce-tune: --resume: contradicts --fresh (give one of them)
! Try 'reduce-tune help tune'.
? 2

== unknown-op: the accepted names are listed
$ reduce-tune --device cpu --ops sum,som
! reduce-tune: --ops: op: "som" is not known (use one of sum, *, bxor)
! Try 'reduce-tune help tune'.
? 2

== empty-name-in-list
$ reduce-tune --device cpu --ops sum,,max
! reduce-tune: --ops: an empty name in the list
! Try 'reduce-tune help tune'.
? 2

== empty-list
$ reduce-tune --device cpu --ops=
! reduce-tune: --ops: an empty name in the list
! Try 'reduce-tune help tune'.
? 2

== unknown-dtype
$ reduce-tune lookup --device cpu --dtype float -n 5
! reduce-tune: --dtype: dtype: "float" is not known (use one of i8, *, f64)
! Try 'reduce-tune help lookup'.
? 2

== unknown-effort
$ reduce-tune --device cpu --effort heroic
! reduce-tune: --effort: unknown effort "heroic" (quick, standard or exhaustive)
! Try 'reduce-tune help tune'.
? 2

== one-name-not-a-list
$ reduce-tune lookup --device cpu --op sum,max --dtype f32 -n 5
$ reduce-tune lookup --device cpu --dtype f32 -n 5 --nan propagate,ignore
! reduce-tune: --op: takes one name, not a list
! Try 'reduce-tune help lookup'.
! reduce-tune: --nan: takes one name here, not a list
! Try 'reduce-tune help lookup'.
? 2

== unsupported-mode: known, but not for this op
$ reduce-tune --device cpu --ops min --mode fixed
$ reduce-tune lookup --device cpu --op argmax --mode kahan --dtype f32 -n 10
! reduce-tune: min in mode fixed: not defined (use plain)
! Try 'reduce-tune help tune'.
! reduce-tune: argmax in mode kahan: not defined (use plain)
! Try 'reduce-tune help lookup'.
? 2

== unsupported-pair
$ reduce-tune --device cpu --ops bxor --dtypes bf16
! reduce-tune: bxor of bf16: not defined (use one of i8, u8, i16, u16, i32, u32, i64, u64)
! Try 'reduce-tune help tune'.
? 2

== unsupported-in-company: a name that is in no problem is told, whatever else is given
$ reduce-tune --device cpu --ops sum,band --dtypes f32
$ reduce-tune --device cpu --dtypes f32,i32 --mode kahan
$ reduce-tune --device cpu --ops prod --mode plain,kahan
! reduce-tune: band of f32: not defined (use one of *)
! Try 'reduce-tune help tune'.
! reduce-tune: sum of i32 in mode kahan: it is for floats (use plain, or one of f16, bf16, f32, f64)
! Try 'reduce-tune help tune'.
! reduce-tune: prod in mode kahan: not defined (use plain)
! Try 'reduce-tune help tune'.
? 2

== sizes-too-large: more than a session measures
$ reduce-tune --device cpu --sizes 2^41
! reduce-tune: --sizes: "2^41" is out of range (expected 1 to 1099511627776)
! Try 'reduce-tune help tune'.
? 2

== lookup-needs-dtype-and-n
$ reduce-tune lookup --device cpu -n 5
$ reduce-tune lookup --device cpu --dtype f32
! reduce-tune: --dtype: is needed (as f32, f16, i32 or u8)
! Try 'reduce-tune help lookup'.
! reduce-tune: -n: is needed (the number of elements, as 2^20)
! Try 'reduce-tune help lookup'.
? 2

== device-spelling: nothing is opened for a name that is no device's
$ reduce-tune --device gpu7
$ reduce-tune lookup --device all --dtype f32 -n 5
$ reduce-tune show --device 'v1|nonsense'
! reduce-tune: --device: "gpu7" is not a device (expected 0, cuda:0, a UUID, a PCI id, cpu or all)
! Try 'reduce-tune help tune'.
! reduce-tune: --device: takes one device here, not all
! Try 'reduce-tune help lookup'.
! reduce-tune: --device: *
! Try 'reduce-tune help show'.
? 2

== worker-by-hand
$ reduce-tune worker
! reduce-tune: worker: needs --fd (tune starts workers by itself)
! Try 'reduce-tune help worker'.
? 2

== completion: bash accepts it and it completes verbs, options and names
$ cat > try.bash <<'END'
$ source <(reduce-tune completion)
$ try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reduce_tune; echo "${COMPREPLY[*]}"; }
$ try reduce-tune loo
$ try reduce-tune lookup --dty
$ try reduce-tune lookup --dtype f
$ try reduce-tune lookup --dtype = f
$ END
$ bash try.bash
> lookup
> --dtype
> f16 f32 f64
> f16 f32 f64

== nothing-in-the-current-folder
$ rm -f a b c try.bash && ls -A && ls -A .. | tr '\n' ' '
> home work *
