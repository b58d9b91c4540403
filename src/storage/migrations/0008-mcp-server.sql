-- Servers whose tools a tenant's assistants may use. A header is sealed as a provider's key is;
-- revision changes with each save that makes a listing under way worthless.
CREATE TABLE mcp_server (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  header_name TEXT,
  header_sealed BLOB,
  enabled INTEGER NOT NULL,
  revision TEXT NOT NULL,
  -- never, ready or failed.
  state TEXT NOT NULL DEFAULT 'never',
  error_class TEXT,
  protocol TEXT,
  latency_ms INTEGER,
  checked_at TEXT,
  -- Epoch milliseconds: until when the listing is believed, and when it is tried again.
  fresh_until INTEGER,
  retry_at INTEGER,
  -- In a row.
  failures INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX mcp_server_by_name ON mcp_server (tenant_id, name);
CREATE INDEX mcp_server_by_retry ON mcp_server (retry_at) WHERE retry_at IS NOT NULL;

-- What a server listed last, in its order.
CREATE TABLE mcp_tool (
  server_id TEXT NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  title TEXT,
  description TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  destructive INTEGER NOT NULL,
  -- JSON as the model is offered it; empty where reason says why it cannot be.
  schema TEXT NOT NULL,
  schema_chars INTEGER NOT NULL,
  param_headers TEXT NOT NULL,
  reason TEXT,
  -- Of the definition as it is, and as it was when somebody approved it.
  hash TEXT NOT NULL,
  approved_hash TEXT,
  PRIMARY KEY (server_id, name)
) STRICT, WITHOUT ROWID;

-- Names of tools for turns without an app, a JSON array.
ALTER TABLE tenant_settings ADD COLUMN mcp_tools TEXT NOT NULL DEFAULT '[]';
