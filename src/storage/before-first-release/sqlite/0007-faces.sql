-- How an assistant shows itself. starters is a JSON array; version counts its changes, from 1.
ALTER TABLE app ADD COLUMN icon TEXT;
ALTER TABLE app ADD COLUMN description TEXT;
ALTER TABLE app ADD COLUMN greeting TEXT;
ALTER TABLE app ADD COLUMN starters TEXT NOT NULL DEFAULT '[]';
ALTER TABLE app ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- What an app was before a change, and who changed it when.
CREATE TABLE app_version (
  app_id TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  at TEXT NOT NULL,
  -- The address of the person, or the key.
  person TEXT,
  key_id TEXT,
  -- JSON: the names of the fields that the change replaced, and all fields as they were.
  changed TEXT NOT NULL,
  app TEXT NOT NULL,
  PRIMARY KEY (app_id, version)
) STRICT;

-- The token, sealed for those who may see it; null: made without an encryption key, or before.
ALTER TABLE share ADD COLUMN token_sealed BLOB;
ALTER TABLE share ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
-- JSON: colour, place, language and title; missing ones have their defaults.
ALTER TABLE share ADD COLUMN look TEXT NOT NULL DEFAULT '{}';

-- What somebody thought of an answer: rating is 1 or -1, giver names a person, a key or 'visitor'.
CREATE TABLE feedback (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  giver TEXT NOT NULL,
  app_id TEXT,
  rating INTEGER NOT NULL,
  reason TEXT,
  text TEXT,
  -- Whether the person of a private talk shows the text to others.
  shared INTEGER NOT NULL DEFAULT 0,
  ts INTEGER NOT NULL,
  UNIQUE (tenant_id, session_id, seq, giver),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX feedback_by_id ON feedback (tenant_id, id DESC);

-- Turns and tokens a day by what began them: console, share, device, api or run.
CREATE TABLE usage_source_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  source TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, source)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_source_day (tenant_id, day, source, calls, input_tokens, output_tokens)
SELECT u.tenant_id, u.day,
  CASE WHEN u.key_id = '' THEN 'console'
    WHEN EXISTS (SELECT 1 FROM share s WHERE s.id = u.key_id) THEN 'share'
    WHEN EXISTS (SELECT 1 FROM api_key k WHERE k.id = u.key_id AND k.device_id IS NOT NULL)
      THEN 'device'
    ELSE 'api' END,
  sum(u.calls), sum(u.input_tokens), sum(u.output_tokens)
FROM usage_key_day u GROUP BY 1, 2, 3;
