-- Addresses that are told of changes. events is a JSON array. The former secret signs until
-- former_until, too. failing_since: the first failure since the last success. Epoch milliseconds.
CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  format TEXT NOT NULL,
  include_reply INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  secret_sealed BLOB NOT NULL,
  secret_tail TEXT NOT NULL,
  former_sealed BLOB,
  former_until INTEGER,
  last_status INTEGER,
  last_at TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_by_tenant ON webhook (tenant_id, id);

-- What is sent, a row for each webhook. state: waiting, done or failed. payload is null once it
-- has ended. taken_until: a server is sending it.
CREATE TABLE webhook_delivery (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  payload TEXT,
  at TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  taken_until INTEGER
) STRICT;
CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_by_tenant ON webhook_delivery (tenant_id, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE state = 'waiting';

-- Addresses that begin a run. token_hash is the SHA-256 of the token. webhook_ids is a JSON array.
-- key_id or user_id made it, and owns its runs.
CREATE TABLE run_trigger (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  app_id TEXT,
  text TEXT NOT NULL,
  session TEXT NOT NULL,
  webhook_ids TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  last_at TEXT,
  count INTEGER NOT NULL DEFAULT 0,
  key_id TEXT,
  user_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_trigger_by_tenant ON run_trigger (tenant_id, id);

-- Whether webhooks were told that the device is there, and on which day that the key is spent.
ALTER TABLE device ADD COLUMN told_online INTEGER NOT NULL DEFAULT 0;
CREATE INDEX device_by_presence ON device (told_online, last_seen_at);
ALTER TABLE api_key ADD COLUMN told_spent INTEGER;
