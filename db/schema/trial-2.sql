-- SPDX-License-Identifier: Apache-2.0
-- Schema 2, in work databases and samples.db: what only one variant or finish has.
ALTER TABLE trial ADD COLUMN extra INTEGER NOT NULL DEFAULT 0;
