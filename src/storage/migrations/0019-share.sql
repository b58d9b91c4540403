-- Links by which visitors talk to an app. origins is a JSON array; expires_at null: never.
CREATE TABLE share (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  origins TEXT NOT NULL,
  daily_turns INTEGER NOT NULL,
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX share_by_app ON share (app_id, created_at DESC);

-- Turns of visitors a day (days since the epoch).
CREATE TABLE share_day (
  share_id TEXT NOT NULL REFERENCES share (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (share_id, day)
) STRICT, WITHOUT ROWID;
