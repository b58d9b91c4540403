-- Each change of a role raises epoch, so that what was granted to the earlier role ends with it.
ALTER TABLE member ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
-- The id of the person who invited; null for the first owner.
ALTER TABLE member ADD COLUMN invited_by TEXT;
-- The id of the person who made the key; null where no person did.
ALTER TABLE api_key ADD COLUMN person_id TEXT;
-- The name that the target had then.
ALTER TABLE audit ADD COLUMN target_name TEXT;
-- When its last member was deleted, in epoch milliseconds; what it holds is removed in steps.
ALTER TABLE tenant ADD COLUMN gone_at INTEGER;
CREATE INDEX tenant_gone ON tenant (gone_at) WHERE gone_at IS NOT NULL;

-- Sessions of the console that have ended before their token expires, or that are in another tenant
-- than the person's own. No token is in it.
CREATE TABLE console_session (
  id TEXT PRIMARY KEY,
  tenant_id TEXT,
  ended INTEGER NOT NULL DEFAULT 0,
  -- When the token expires, in epoch milliseconds.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_expiry ON console_session (expires_at);
