/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db/columns.h: the one list of columns, from which sql.c makes statements and rows.c moves values.
 *
 * X(struct, field, column, kind, names): kind is one of rows.c's; names only matters to NAME. A
 * problem or config is a member of several structs, so P is the path to it ("problem." or nothing).
 */
#ifndef RTUNE_DB_COLUMNS_H
#define RTUNE_DB_COLUMNS_H

#define RTUNE_COLUMNS_DEVICE(X)                                                                    \
    X(struct rtune_identity, name, name, TEXT, 0)                                                  \
    X(struct rtune_identity, uuid, uuid, TEXT, 0)                                                  \
    X(struct rtune_identity, pci, pci, TEXT, 0)                                                    \
    X(struct rtune_identity, driver, driver, TEXT, 0)                                              \
    X(struct rtune_identity, memory_bytes, memory_bytes, U64, 0)                                   \
    X(struct rtune_identity, power_mw, power_mw, U32, 0)                                           \
    X(struct rtune_identity, ecc, ecc, BOOL, 0)

#define RTUNE_COLUMNS_SESSION(X)                                                                   \
    X(struct rtune_session, started, started, I64, 0)                                              \
    X(struct rtune_session, ended, ended, I64, 0)                                                  \
    X(struct rtune_session, tool_version, tool_version, TEXT, 0)                                   \
    X(struct rtune_session, source_hash, source_hash, TEXT, 0)                                     \
    X(struct rtune_session, driver, driver, TEXT, 0)                                               \
    X(struct rtune_session, nvrtc, nvrtc, TEXT, 0)                                                 \
    X(struct rtune_session, sm_mhz_start, sm_mhz_start, U32, 0)                                    \
    X(struct rtune_session, sm_mhz_end, sm_mhz_end, U32, 0)                                        \
    X(struct rtune_session, memory_mhz, memory_mhz, U32, 0)                                        \
    X(struct rtune_session, temperature_c, temperature_c, U32, 0)                                  \
    X(struct rtune_session, seed, seed, BITS, 0)                                                   \
    X(struct rtune_session, effort, effort, TEXT, 0)                                               \
    X(struct rtune_session, outcome, outcome, TEXT, 0)

/* What kind of problem: all but n. */
#define RTUNE_COLUMNS_PROBLEM(X, S, P)                                                             \
    X(S, P op, op, NAME, RTUNE_NAMES_OP)                                                           \
    X(S, P dtype, dtype, NAME, RTUNE_NAMES_DTYPE)                                                  \
    X(S, P acc, acc, NAME, RTUNE_NAMES_ACC)                                                        \
    X(S, P mode, mode, NAME, RTUNE_NAMES_MODE)                                                     \
    X(S, P nan_rule, nan, NAME, RTUNE_NAMES_NAN)                                                   \
    X(S, P flags, flags, U32, 0)                                                                   \
    X(S, P cache, cache, NAME, RTUNE_NAMES_CACHE)

#define RTUNE_COLUMNS_CONFIG(X, S, P)                                                              \
    X(S, P variant, variant, NAME, RTUNE_NAMES_VARIANT)                                            \
    X(S, P block, block, U32, 0)                                                                   \
    X(S, P items, items, U32, 0)                                                                   \
    X(S, P grid, grid, GRID, 0)                                                                    \
    X(S, P load, load, NAME, RTUNE_NAMES_LOAD)                                                     \
    X(S, P finish, finish, NAME, RTUNE_NAMES_FINISH)                                               \
    X(S, P map, map, NAME, RTUNE_NAMES_MAP)                                                        \
    X(S, P occupancy, occupancy, U32, 0)                                                           \
    X(S, P extra, extra, U32, 0)

#define RTUNE_COLUMNS_WINNER(X)                                                                    \
    RTUNE_COLUMNS_PROBLEM(X, struct rtune_winner, problem.)                                        \
    X(struct rtune_winner, problem.n, n, U64, 0)                                                   \
    X(struct rtune_winner, n_from, n_from, U64, 0)                                                 \
    X(struct rtune_winner, n_to, n_to, END, 0)                                                     \
    RTUNE_COLUMNS_CONFIG(X, struct rtune_winner, config.)                                          \
    X(struct rtune_winner, us, us, REAL, 0)                                                        \
    X(struct rtune_winner, us_lo, us_lo, REAL, 0)                                                  \
    X(struct rtune_winner, us_hi, us_hi, REAL, 0)                                                  \
    X(struct rtune_winner, default_us, default_us, REAL, 0)                                        \
    X(struct rtune_winner, floor_us, floor_us, REAL, 0)                                            \
    X(struct rtune_winner, kernel_abi, kernel_abi, U32, 0)                                         \
    X(struct rtune_winner, source_hash, source_hash, TEXT, 0)                                      \
    X(struct rtune_winner, cubin, cubin, TEXT, 0)                                                  \
    X(struct rtune_winner, driver, driver, TEXT, 0)                                                \
    X(struct rtune_winner, session, session, ID, 0)

#define RTUNE_COLUMNS_TRIAL(X)                                                                     \
    RTUNE_COLUMNS_PROBLEM(X, struct rtune_trial, problem.)                                         \
    X(struct rtune_trial, problem.n, n, U64, 0)                                                    \
    RTUNE_COLUMNS_CONFIG(X, struct rtune_trial, config.)                                           \
    X(struct rtune_trial, reason, reason, REASON, 0)                                               \
    X(struct rtune_trial, detail, detail, TEXT, 0)                                                 \
    X(struct rtune_trial, us, us, REAL, 0)                                                         \
    X(struct rtune_trial, us_lo, us_lo, REAL, 0)                                                   \
    X(struct rtune_trial, us_hi, us_hi, REAL, 0)

#endif /* RTUNE_DB_COLUMNS_H */
