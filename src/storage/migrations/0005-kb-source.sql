-- Files and web pages that documents are made of.

CREATE TABLE kb_source (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  -- The title was given; that of the page does not replace it.
  is_named INTEGER NOT NULL,
  file_name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  url TEXT,
  refresh TEXT,
  state TEXT NOT NULL,
  error_class TEXT,
  error TEXT,
  pages INTEGER,
  created_at TEXT NOT NULL,
  checked_at TEXT,
  changed_at TEXT,
  -- When it is to be worked on (epoch milliseconds); null: not before somebody asks.
  due_at INTEGER,
  -- Failures of the embedder in a row, and checks in a row that found no page.
  attempts INTEGER NOT NULL DEFAULT 0,
  misses INTEGER NOT NULL DEFAULT 0,
  -- Of the text that its documents have.
  text_hash TEXT,
  etag TEXT,
  last_modified TEXT
) STRICT;
CREATE INDEX kb_source_by_tenant ON kb_source (tenant_id, created_at DESC);
CREATE INDEX kb_source_by_due ON kb_source (due_at) WHERE due_at IS NOT NULL;

-- The documents of a source are its parts, numbered from 1; typed documents have none of the three.
ALTER TABLE kb_doc ADD COLUMN source_id TEXT;
ALTER TABLE kb_doc ADD COLUMN part INTEGER;
ALTER TABLE kb_doc ADD COLUMN parts INTEGER;
-- live; or new: not all parts are stored yet; or old: to be removed. Only live ones are seen.
ALTER TABLE kb_doc ADD COLUMN stage TEXT NOT NULL DEFAULT 'live';
CREATE INDEX kb_doc_by_source ON kb_doc (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX kb_doc_by_stage ON kb_doc (stage) WHERE stage <> 'live';

ALTER TABLE kb_chunk ADD COLUMN page INTEGER;
ALTER TABLE kb_chunk ADD COLUMN heading TEXT;
