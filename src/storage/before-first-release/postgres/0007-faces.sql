-- As faces of SQLite, where tables and columns are explained.
ALTER TABLE app ADD COLUMN icon TEXT COLLATE "C";
ALTER TABLE app ADD COLUMN description TEXT COLLATE "C";
ALTER TABLE app ADD COLUMN greeting TEXT COLLATE "C";
ALTER TABLE app ADD COLUMN starters TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE app ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
CREATE TABLE app_version (
  app_id TEXT COLLATE "C" NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  version BIGINT NOT NULL,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  at TEXT COLLATE "C" NOT NULL,
  person TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  changed TEXT COLLATE "C" NOT NULL,
  app TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (app_id, version)
);
ALTER TABLE share ADD COLUMN token_sealed BYTEA;
ALTER TABLE share ADD COLUMN paused BIGINT NOT NULL DEFAULT 0;
ALTER TABLE share ADD COLUMN look TEXT COLLATE "C" NOT NULL DEFAULT '{}';
CREATE TABLE feedback (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  giver TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  rating BIGINT NOT NULL,
  reason TEXT COLLATE "C",
  text TEXT COLLATE "C",
  shared BIGINT NOT NULL DEFAULT 0,
  ts BIGINT NOT NULL,
  UNIQUE (tenant_id, session_id, seq, giver),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX feedback_by_id ON feedback (tenant_id, id DESC);
CREATE TABLE usage_source_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, source)
);
INSERT INTO usage_source_day (tenant_id, day, source, calls, input_tokens, output_tokens)
SELECT u.tenant_id, u.day,
  CASE WHEN u.key_id = '' THEN 'console'
    WHEN EXISTS (SELECT 1 FROM share s WHERE s.id = u.key_id) THEN 'share'
    WHEN EXISTS (SELECT 1 FROM api_key k WHERE k.id = u.key_id AND k.device_id IS NOT NULL)
      THEN 'device'
    ELSE 'api' END,
  sum(u.calls), sum(u.input_tokens), sum(u.output_tokens)
FROM usage_key_day u GROUP BY 1, 2, 3;
