-- Whether a person is asked before each call of the tool; who approved it; how its last call ended.
ALTER TABLE mcp_tool ADD COLUMN ask INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mcp_tool ADD COLUMN approved_at TEXT;
-- The address of the person, or the key.
ALTER TABLE mcp_tool ADD COLUMN approved_by TEXT;
ALTER TABLE mcp_tool ADD COLUMN called_at TEXT;
ALTER TABLE mcp_tool ADD COLUMN called_ok INTEGER;

-- Whether the model may ask the person; null: the setting of the tenant, or no.
ALTER TABLE app ADD COLUMN may_ask INTEGER;
ALTER TABLE tenant_settings ADD COLUMN may_ask INTEGER;

-- What a running turn asks its person. state is open, answered (and not yet taken by the turn),
-- taken or gone.
CREATE TABLE open_ask (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- Who may answer: the person, or the key and all general keys.
  user_id TEXT,
  key_id TEXT,
  state TEXT NOT NULL DEFAULT 'open',
  -- JSON: what an answer is checked against, and the answer; null once the turn has taken it.
  question TEXT,
  answer TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX open_ask_by_end ON open_ask (expires_at);

-- Tools that ask no more in a session, as long as they are what they were.
CREATE TABLE ask_grant (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  server_id TEXT NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  tool TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, server_id, tool),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX ask_grant_by_server ON ask_grant (server_id);
