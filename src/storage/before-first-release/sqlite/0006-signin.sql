-- Keys of WebAuthn, by which a person signs in.
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  -- The id that the authenticator gave it, in base64url.
  credential_id TEXT NOT NULL UNIQUE,
  -- COSE (RFC 9052).
  public_key BLOB NOT NULL,
  -- How often it has signed; 0 at authenticators that do not count.
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- JSON: a list of texts.
  transports TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT
) STRICT;
CREATE INDEX passkey_by_user ON passkey (user_id, created_at);

-- Links that sign a person in once.
CREATE TABLE signin_link (
  -- SHA-256 of its token, in hex.
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  -- Epoch milliseconds.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What people use in the console, beside the sums by key and app.
CREATE TABLE usage_person_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- Days since the epoch, UTC.
  day INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, user_id)
) STRICT, WITHOUT ROWID;

-- Tokens a day of a person in the console; 0: no limit.
ALTER TABLE member ADD COLUMN daily_tokens INTEGER NOT NULL DEFAULT 0;
-- Tokens a day of all that the tenant does; 0: no limit.
ALTER TABLE tenant ADD COLUMN daily_tokens INTEGER NOT NULL DEFAULT 0;
-- Most documents of the tenant; null: the limit of the server.
ALTER TABLE tenant ADD COLUMN max_docs INTEGER;
ALTER TABLE tenant ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
