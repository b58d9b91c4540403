-- Tenants, people, credentials, memory, and what is counted. Times named *_at are ISO 8601 UTC text
-- unless the API gives epoch milliseconds (keys, personas, logs).

CREATE TABLE tenant (
  id TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  rate_limit INTEGER NOT NULL,
  app_id TEXT,
  device_id TEXT,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_by_tenant ON api_key (tenant_id, created_at DESC);

CREATE TABLE persona (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX persona_by_tenant ON persona (tenant_id, created_at DESC);
CREATE UNIQUE INDEX persona_default ON persona (tenant_id) WHERE is_default = 1;

CREATE TABLE app (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  system_prompt TEXT,
  persona_id TEXT,
  model TEXT,
  thinking INTEGER,
  temperature REAL,
  kb_enabled INTEGER NOT NULL DEFAULT 1,
  tools_enabled TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX app_by_tenant ON app (tenant_id, created_at DESC);

CREATE TABLE tenant_settings (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  model TEXT,
  thinking INTEGER NOT NULL DEFAULT 0,
  temperature REAL
) STRICT;

-- One row a conversation. The turns up to folded_through live on only in summary.
CREATE TABLE session (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  turn_count INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  summary TEXT NOT NULL DEFAULT '',
  folded_through INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);

-- A turn is one exchange, so that it is stored whole or not at all.
CREATE TABLE turn (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  user_text TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Metadata only: there is no column that could hold what was said. Rows of a tenant lie together in
-- the order of time, which is how they are read, summed up and pruned; no index beside it.
CREATE TABLE request_log (
  tenant_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  endpoint TEXT NOT NULL,
  status INTEGER NOT NULL,
  latency_ms INTEGER,
  session_id TEXT,
  text_chars INTEGER,
  error_class TEXT,
  channel TEXT,
  PRIMARY KEY (tenant_id, ts, id)
) STRICT, WITHOUT ROWID;

-- Calls a day (days since the epoch) and app; app_id '' is a key without an app.
CREATE TABLE usage_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  app_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, app_id)
) STRICT, WITHOUT ROWID;
