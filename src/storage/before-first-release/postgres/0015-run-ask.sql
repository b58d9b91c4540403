-- What a run asks has a table of its own.
CREATE TABLE run_ask (
  run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  ask TEXT COLLATE "C" NOT NULL
);
INSERT INTO run_ask (run_id, ask) SELECT id, request FROM run WHERE request IS NOT NULL;

ALTER TABLE run ADD COLUMN ask_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN named_at BIGINT;
UPDATE run SET ask_bytes = octet_length(request) WHERE request IS NOT NULL;
ALTER TABLE run DROP COLUMN request;
