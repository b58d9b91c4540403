-- 'off', 'app' or 'tenant': which facts turns remember and show; NULL: the tenant's, or off.
ALTER TABLE app ADD COLUMN remembers TEXT;
ALTER TABLE tenant_settings ADD COLUMN remembers TEXT;

-- A fact about somebody whom assistants talk with.
CREATE TABLE memory (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  -- The app that alone knows the fact; empty: all that share facts in the tenant.
  scope TEXT NOT NULL,
  text TEXT NOT NULL,
  -- The text in lower case: one text is one fact.
  text_key TEXT NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0,
  -- 'tool', 'person' or 'api'.
  source TEXT NOT NULL,
  session_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  used_at TEXT,
  -- Float32 of a unit vector and the model that made it; NULL: the embedder had failed.
  vector_model TEXT,
  vector BLOB,
  UNIQUE (tenant_id, subject, scope, text_key)
) STRICT;
CREATE INDEX memory_by_subject ON memory (subject);
