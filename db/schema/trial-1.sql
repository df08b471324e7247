-- SPDX-License-Identifier: Apache-2.0
-- Schema 1, in work databases and samples.db: every candidate that was measured, or failed.

-- What a session is known by across databases, and the search space it was run with.
CREATE TABLE run (
    session INTEGER PRIMARY KEY REFERENCES session (id),
    token TEXT NOT NULL UNIQUE,
    config_text TEXT NOT NULL
);

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session (id),
    seq INTEGER NOT NULL,
    device INTEGER NOT NULL REFERENCES device (id),
    op TEXT NOT NULL,
    dtype TEXT NOT NULL,
    acc TEXT NOT NULL,
    mode TEXT NOT NULL,
    nan TEXT NOT NULL,
    flags INTEGER NOT NULL,
    cache TEXT NOT NULL,
    n INTEGER NOT NULL,
    variant TEXT NOT NULL,
    block INTEGER NOT NULL,
    items INTEGER NOT NULL,
    grid TEXT NOT NULL,
    load TEXT NOT NULL,
    finish TEXT NOT NULL,
    map TEXT NOT NULL,
    occupancy INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    us REAL NOT NULL,
    us_lo REAL NOT NULL,
    us_hi REAL NOT NULL,
    sample_count INTEGER NOT NULL,
    samples BLOB NOT NULL,
    UNIQUE (session, seq),
    CHECK (length(samples) = 8 * sample_count)
);

CREATE INDEX trial_problem ON trial (op, dtype, n);
