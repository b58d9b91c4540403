-- Tokens beside the calls of a day and app; the sums of all time are made from these rows.
ALTER TABLE usage_day ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;

-- The same by key and channel. key_id '' is the playground, channel '' the calls, which have none.
CREATE TABLE usage_key_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, key_id, app_id, channel)
) STRICT, WITHOUT ROWID;

-- When each key was last used (epoch milliseconds). Apart from the keys, which are read from memory
-- until one of them is written.
CREATE TABLE key_use (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
) STRICT, WITHOUT ROWID;

-- tail is null for keys that were issued before it was kept. daily_tokens 0: no budget.
ALTER TABLE api_key ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE api_key ADD COLUMN tail TEXT;
ALTER TABLE api_key ADD COLUMN daily_tokens INTEGER NOT NULL DEFAULT 0;
