-- A tenant's own model channel. The key is sealed (AES-256-GCM, the tenant authenticated with it);
-- revision changes with every save.
CREATE TABLE provider (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  base_url TEXT NOT NULL,
  key_sealed BLOB NOT NULL,
  failover INTEGER NOT NULL,
  revision TEXT NOT NULL
) STRICT;
