-- Vectors in plain tables: those of sqlite-vec are read whole by every search, and float by float.
-- src/storage/sqlite/vec0-tables.ts brings theirs over.

CREATE TABLE kb_vector (
  -- doc_num * 1024 + seq, as in kb_word.
  key INTEGER PRIMARY KEY,
  -- Tenant and model; only vectors of one space are compared.
  space TEXT NOT NULL,
  -- float32 of unit length, little-endian.
  vector BLOB NOT NULL
) STRICT;

-- A bit for each dimension of the chunks of a document, in order, which a search reads first.
CREATE TABLE kb_vector_code (
  doc_num INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  codes BLOB NOT NULL
) STRICT;
CREATE INDEX kb_vector_code_by_space ON kb_vector_code (space);

-- Each search asks how many passages the tenant has.
CREATE INDEX kb_doc_by_size ON kb_doc (tenant_id, stage, chunk_count);
