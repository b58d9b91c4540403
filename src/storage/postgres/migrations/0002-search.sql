-- The two indexes of the knowledge base; the key of a chunk in both is doc_num * 1024 + seq.

CREATE TABLE kb_vector (
  key BIGINT PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  -- Of unit length; of different lengths side by side.
  vector HALFVEC NOT NULL
);
-- A search reads all vectors of a tenant; in a table of their own each would be read apart.
ALTER TABLE kb_vector ALTER COLUMN vector SET STORAGE MAIN;
CREATE INDEX kb_vector_by_space ON kb_vector (tenant_id, model);

-- Which chunk holds which term, and no text.
CREATE TABLE kb_word (
  key BIGINT PRIMARY KEY,
  -- Each term once, with the tag of its tenant in front of it.
  terms TSVECTOR NOT NULL,
  -- How often it holds those terms that it holds more than once.
  repeated JSONB
);
-- Without a list of pending entries, which every search would read from beginning to end.
CREATE INDEX kb_word_by_term ON kb_word USING gin (terms) WITH (fastupdate = off);
