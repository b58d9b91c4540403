-- Conversations are searched by an index. The turns below index_below wait to be indexed, the
-- newest first.
CREATE SEQUENCE session_num;
ALTER TABLE session ADD COLUMN num BIGINT DEFAULT nextval('session_num');
ALTER TABLE session ADD COLUMN index_below BIGINT NOT NULL DEFAULT 0;
UPDATE session SET index_below = 16777216;
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (last_at DESC) WHERE index_below > 0;

-- Which turn holds which term, as hashes; seq 0 is the title.
CREATE TABLE turn_word (
  num BIGINT NOT NULL REFERENCES session (num) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  words BIGINT[] NOT NULL,
  PRIMARY KEY (num, seq)
);
-- Without a list of pending entries, which every search would read from beginning to end.
CREATE INDEX turn_word_by_word ON turn_word USING gin (words) WITH (fastupdate = off);
CREATE FUNCTION forget_turn() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM turn_word WHERE seq = old.seq AND num = (
    SELECT num FROM session WHERE tenant_id = old.tenant_id AND id = old.session_id);
  RETURN NULL;
END
$$;
CREATE TRIGGER turn_forgotten AFTER DELETE ON turn FOR EACH ROW EXECUTE FUNCTION forget_turn();
