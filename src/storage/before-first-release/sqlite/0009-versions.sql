-- The name of a file where it comes from, by which a new version of it replaces the text; and the
-- SHA-256 of its bytes.
ALTER TABLE kb_source ADD COLUMN origin TEXT;
ALTER TABLE kb_source ADD COLUMN sha256 TEXT;
-- The source whose documents this one, a version of it, replaces once it has been read.
ALTER TABLE kb_source ADD COLUMN replaces TEXT;
CREATE INDEX kb_source_by_origin ON kb_source (tenant_id, origin) WHERE origin IS NOT NULL;
CREATE INDEX kb_source_by_replaced ON kb_source (replaces) WHERE replaces IS NOT NULL;
