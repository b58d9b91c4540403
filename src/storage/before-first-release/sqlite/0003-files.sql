-- Files that people talk about: sources of the kind "chat", which no search of the knowledge base
-- finds. Their documents have the stage "file", and the indexes hold them apart by their source.
CREATE TABLE chat_file (
  id TEXT PRIMARY KEY REFERENCES kb_source (id) ON DELETE CASCADE,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- The app whose key uploaded it; null: the tenant's.
  app_id TEXT,
  -- The person who uploaded it in the console.
  user_id TEXT,
  name TEXT NOT NULL,
  -- SHA-256 of its bytes, in hex.
  hash TEXT NOT NULL,
  -- Epoch milliseconds; each use moves it.
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_file_by_tenant ON chat_file (tenant_id, expires_at);
CREATE INDEX chat_file_by_expiry ON chat_file (expires_at);

-- The files that the turns of a session have named.
CREATE TABLE session_file (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, file_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- Texts that people write once and send often.
CREATE TABLE prompt (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (tenant_id, name)
) STRICT;

ALTER TABLE session ADD COLUMN folder TEXT;
ALTER TABLE session ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_marked ON session (tenant_id, last_at) WHERE pinned = 1;

-- An IANA name, by which prompts tell date and time; null: UTC.
ALTER TABLE tenant_settings ADD COLUMN time_zone TEXT;
-- zh or en; null: zh.
ALTER TABLE tenant_settings ADD COLUMN language TEXT;
