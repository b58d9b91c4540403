-- As asks of SQLite, where tables and columns are explained.
ALTER TABLE mcp_tool ADD COLUMN ask BIGINT NOT NULL DEFAULT 0;
ALTER TABLE mcp_tool ADD COLUMN approved_at TEXT COLLATE "C";
ALTER TABLE mcp_tool ADD COLUMN approved_by TEXT COLLATE "C";
ALTER TABLE mcp_tool ADD COLUMN called_at TEXT COLLATE "C";
ALTER TABLE mcp_tool ADD COLUMN called_ok BIGINT;
ALTER TABLE app ADD COLUMN may_ask BIGINT;
ALTER TABLE tenant_settings ADD COLUMN may_ask BIGINT;
CREATE TABLE open_ask (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL DEFAULT 'open',
  question TEXT COLLATE "C",
  answer TEXT COLLATE "C",
  expires_at BIGINT NOT NULL
);
CREATE INDEX open_ask_by_end ON open_ask (expires_at);
CREATE TABLE ask_grant (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  server_id TEXT COLLATE "C" NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  tool TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, session_id, server_id, tool),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ask_grant_by_server ON ask_grant (server_id);
