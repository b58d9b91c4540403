-- As mcp-sign-in of SQLite, where tables and columns are explained.
ALTER TABLE mcp_server ADD COLUMN auth TEXT COLLATE "C" NOT NULL DEFAULT 'none';
UPDATE mcp_server SET auth = 'header' WHERE header_name IS NOT NULL;
ALTER TABLE mcp_server ADD COLUMN client_id TEXT COLLATE "C";
ALTER TABLE mcp_server ADD COLUMN client_secret_sealed BYTEA;
ALTER TABLE mcp_server ADD COLUMN scopes TEXT COLLATE "C";
CREATE TABLE mcp_grant (
  server_id TEXT COLLATE "C" PRIMARY KEY REFERENCES mcp_server (id) ON DELETE CASCADE,
  sealed BYTEA NOT NULL,
  version TEXT COLLATE "C" NOT NULL,
  signed_in_by TEXT COLLATE "C",
  signed_in_at TEXT COLLATE "C" NOT NULL
);
