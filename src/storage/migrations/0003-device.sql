-- Devices of a tenant. code_hash outlives the code's use, so that a second try can be told from an
-- unknown code; code_expires_at is null once the code was used.
CREATE TABLE device (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  app_id TEXT,
  hw_model TEXT,
  firmware TEXT,
  code_hash TEXT NOT NULL UNIQUE,
  code_expires_at TEXT,
  -- The key that the current code was exchanged for; null while the code waits.
  key_id TEXT,
  activated_at TEXT,
  last_seen_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX api_key_by_device ON api_key (device_id) WHERE device_id IS NOT NULL;
