-- As webhooks of SQLite, where tables and columns are explained.
CREATE TABLE webhook (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  events TEXT COLLATE "C" NOT NULL,
  format TEXT COLLATE "C" NOT NULL,
  include_reply BIGINT NOT NULL,
  enabled BIGINT NOT NULL,
  secret_sealed BYTEA NOT NULL,
  secret_tail TEXT COLLATE "C" NOT NULL,
  former_sealed BYTEA,
  former_until BIGINT,
  last_status BIGINT,
  last_at TEXT COLLATE "C",
  failures BIGINT NOT NULL DEFAULT 0,
  failing_since BIGINT,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX webhook_by_tenant ON webhook (tenant_id, id);
CREATE TABLE webhook_delivery (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event TEXT COLLATE "C" NOT NULL,
  payload TEXT COLLATE "C",
  at TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  status BIGINT,
  tries BIGINT NOT NULL DEFAULT 0,
  due_at BIGINT NOT NULL,
  taken_until BIGINT
);
CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_by_tenant ON webhook_delivery (tenant_id, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE state = 'waiting';
CREATE TABLE run_trigger (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  text TEXT COLLATE "C" NOT NULL,
  session TEXT COLLATE "C" NOT NULL,
  webhook_ids TEXT COLLATE "C" NOT NULL,
  enabled BIGINT NOT NULL,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  last_at TEXT COLLATE "C",
  count BIGINT NOT NULL DEFAULT 0,
  key_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX run_trigger_by_tenant ON run_trigger (tenant_id, id);
ALTER TABLE device ADD COLUMN told_online BIGINT NOT NULL DEFAULT 0;
CREATE INDEX device_by_presence ON device (told_online, last_seen_at);
ALTER TABLE api_key ADD COLUMN told_spent BIGINT;
