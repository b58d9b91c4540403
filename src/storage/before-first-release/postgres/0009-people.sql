-- As people of SQLite, where the columns are explained.
ALTER TABLE member ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE member ADD COLUMN invited_by TEXT COLLATE "C";
ALTER TABLE api_key ADD COLUMN person_id TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN target_name TEXT COLLATE "C";
ALTER TABLE tenant ADD COLUMN gone_at BIGINT;
CREATE INDEX tenant_gone ON tenant (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE console_session (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C",
  ended BIGINT NOT NULL DEFAULT 0,
  expires_at BIGINT NOT NULL
);
CREATE INDEX console_session_by_expiry ON console_session (expires_at);
