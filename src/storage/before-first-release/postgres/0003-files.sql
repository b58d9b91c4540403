-- As files of SQLite, where tables and columns are explained.
CREATE TABLE chat_file (
  id TEXT COLLATE "C" PRIMARY KEY REFERENCES kb_source (id) ON DELETE CASCADE,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX chat_file_by_tenant ON chat_file (tenant_id, expires_at);
CREATE INDEX chat_file_by_expiry ON chat_file (expires_at);

CREATE TABLE session_file (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  file_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, session_id, file_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE prompt (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  title TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  UNIQUE (tenant_id, name)
);

ALTER TABLE session ADD COLUMN folder TEXT COLLATE "C";
ALTER TABLE session ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
CREATE INDEX session_marked ON session (tenant_id, last_at) WHERE pinned = 1;

ALTER TABLE tenant_settings ADD COLUMN time_zone TEXT COLLATE "C";
ALTER TABLE tenant_settings ADD COLUMN language TEXT COLLATE "C";
