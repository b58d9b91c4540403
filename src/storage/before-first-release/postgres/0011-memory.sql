-- As memory of SQLite, where tables and columns are explained.
ALTER TABLE app ADD COLUMN remembers TEXT COLLATE "C";
ALTER TABLE tenant_settings ADD COLUMN remembers TEXT COLLATE "C";
CREATE TABLE memory (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  subject TEXT COLLATE "C" NOT NULL,
  scope TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  text_key TEXT COLLATE "C" NOT NULL,
  pinned BIGINT NOT NULL DEFAULT 0,
  source TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  updated_at TEXT COLLATE "C" NOT NULL,
  used_at TEXT COLLATE "C",
  vector_model TEXT COLLATE "C",
  vector BYTEA,
  UNIQUE (tenant_id, subject, scope, text_key)
);
CREATE INDEX memory_by_subject ON memory (subject);
