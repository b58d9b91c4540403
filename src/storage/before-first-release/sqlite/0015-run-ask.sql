-- What a run asks has a table of its own.
CREATE TABLE run_ask (
  run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  ask TEXT NOT NULL
) STRICT;
INSERT INTO run_ask (run_id, ask) SELECT id, request FROM run WHERE request IS NOT NULL;

ALTER TABLE run ADD COLUMN ask_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN named_at INTEGER;
UPDATE run SET ask_bytes = length(CAST(request AS BLOB)) WHERE request IS NOT NULL;
ALTER TABLE run DROP COLUMN request;
