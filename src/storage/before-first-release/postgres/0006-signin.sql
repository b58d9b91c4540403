CREATE TABLE passkey (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  credential_id TEXT COLLATE "C" NOT NULL UNIQUE,
  public_key BYTEA NOT NULL,
  counter BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  transports TEXT COLLATE "C" NOT NULL,
  backed_up BIGINT NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  last_used_at TEXT COLLATE "C"
);
CREATE INDEX passkey_by_user ON passkey (user_id, created_at);

CREATE TABLE signin_link (
  hash TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  expires_at BIGINT NOT NULL
);

CREATE TABLE usage_person_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, user_id)
);

ALTER TABLE member ADD COLUMN daily_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenant ADD COLUMN daily_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenant ADD COLUMN max_docs BIGINT;
ALTER TABLE tenant ADD COLUMN disabled BIGINT NOT NULL DEFAULT 0;
