-- As collections of SQLite, where tables and columns are explained.
CREATE TABLE kb_collection (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  gone BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX kb_collection_by_name ON kb_collection (tenant_id, name) WHERE gone = 0;

ALTER TABLE kb_doc ADD COLUMN collection_id TEXT COLLATE "C" NOT NULL DEFAULT 'none';
ALTER TABLE kb_source ADD COLUMN collection_id TEXT COLLATE "C" NOT NULL DEFAULT 'none';
CREATE INDEX kb_doc_by_collection ON kb_doc (tenant_id, stage, collection_id, chunk_count);

ALTER TABLE app ADD COLUMN collections TEXT COLLATE "C";
ALTER TABLE tenant_settings ADD COLUMN collections TEXT COLLATE "C";
