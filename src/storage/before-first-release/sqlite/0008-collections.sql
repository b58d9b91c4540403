-- Groups of documents. An assistant may be bound to some of them.
CREATE TABLE kb_collection (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  created_at TEXT NOT NULL,
  -- 1: deleted. The name stays for the export of apps that still list it.
  gone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX kb_collection_by_name ON kb_collection (tenant_id, name) WHERE gone = 0;

-- The id of a collection, or the word none.
ALTER TABLE kb_doc ADD COLUMN collection_id TEXT NOT NULL DEFAULT 'none';
ALTER TABLE kb_source ADD COLUMN collection_id TEXT NOT NULL DEFAULT 'none';
CREATE INDEX kb_doc_by_collection ON kb_doc (tenant_id, stage, collection_id, chunk_count);

-- Ids of collections that are seen, a JSON array; null: all documents.
ALTER TABLE app ADD COLUMN collections TEXT;
ALTER TABLE tenant_settings ADD COLUMN collections TEXT;
