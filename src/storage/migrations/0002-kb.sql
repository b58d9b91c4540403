-- The knowledge base. Vectors lie in tables of sqlite-vec, one a vector length, which the vector
-- index creates when a length occurs for the first time.

CREATE TABLE kb_doc (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  char_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  -- The model whose vectors the chunks have; another one than the server's: to be embedded anew.
  embed_model TEXT NOT NULL,
  embed_attempts INTEGER NOT NULL DEFAULT 0,
  -- Not tried again before (epoch milliseconds).
  embed_after INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX kb_doc_by_tenant ON kb_doc (tenant_id, created_at DESC);
CREATE INDEX kb_doc_by_model ON kb_doc (embed_model);

-- The key of a chunk in both indexes is doc_num * 1024 + seq.
CREATE TABLE kb_chunk (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (doc_num, seq)
) STRICT, WITHOUT ROWID;

-- Which chunk holds which term, and no text.
CREATE VIRTUAL TABLE kb_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '-_./+#:@''&'"
);
