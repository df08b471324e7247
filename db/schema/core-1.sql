-- SPDX-License-Identifier: Apache-2.0
-- Schema 1, in every database: the devices and sessions that rows refer to. docs/STORE.md is the
-- specification.
CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    uuid TEXT NOT NULL,
    pci TEXT NOT NULL,
    driver TEXT NOT NULL,
    memory_bytes INTEGER NOT NULL,
    power_mw INTEGER NOT NULL,
    ecc INTEGER NOT NULL
);

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    tool_version TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    driver TEXT NOT NULL,
    nvrtc TEXT NOT NULL,
    sm_mhz_start INTEGER NOT NULL,
    sm_mhz_end INTEGER NOT NULL,
    memory_mhz INTEGER NOT NULL,
    temperature_c INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    effort TEXT NOT NULL,
    outcome TEXT NOT NULL
);
