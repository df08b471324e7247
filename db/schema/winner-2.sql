-- SPDX-License-Identifier: Apache-2.0
-- Schema 2, in stores and work databases: what only one variant or finish has.
ALTER TABLE winner ADD COLUMN extra INTEGER NOT NULL DEFAULT 0;
