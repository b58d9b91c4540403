-- As versions of SQLite, where the columns are explained.
ALTER TABLE kb_source ADD COLUMN origin TEXT COLLATE "C";
ALTER TABLE kb_source ADD COLUMN sha256 TEXT COLLATE "C";
ALTER TABLE kb_source ADD COLUMN replaces TEXT COLLATE "C";
CREATE INDEX kb_source_by_origin ON kb_source (tenant_id, origin) WHERE origin IS NOT NULL;
CREATE INDEX kb_source_by_replaced ON kb_source (replaces) WHERE replaces IS NOT NULL;
