-- How an MCP server is told who asks: none, header, oauth or client_credentials.
ALTER TABLE mcp_server ADD COLUMN auth TEXT NOT NULL DEFAULT 'none';
UPDATE mcp_server SET auth = 'header' WHERE header_name IS NOT NULL;
ALTER TABLE mcp_server ADD COLUMN client_id TEXT;
ALTER TABLE mcp_server ADD COLUMN client_secret_sealed BLOB;
-- Separated by spaces; null: what the server asks for.
ALTER TABLE mcp_server ADD COLUMN scopes TEXT;

-- Tokens for a server, which all people of the tenant share.
CREATE TABLE mcp_grant (
  server_id TEXT PRIMARY KEY REFERENCES mcp_server (id) ON DELETE CASCADE,
  -- JSON of the tokens, the client and the issuer; sealed as the header of a server is.
  sealed BLOB NOT NULL,
  -- Changes with each refresh.
  version TEXT NOT NULL,
  -- The address of the person who signed in; null for the server's own credentials.
  signed_in_by TEXT,
  signed_in_at TEXT NOT NULL
) STRICT;
