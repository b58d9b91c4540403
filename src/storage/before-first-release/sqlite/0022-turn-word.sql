-- Conversations are searched by an index. A session has a number of its own, because a row's id is
-- not kept by every copy; the turns below index_below wait to be indexed, the newest first.
ALTER TABLE session ADD COLUMN num INTEGER;
ALTER TABLE session ADD COLUMN index_below INTEGER NOT NULL DEFAULT 0;
UPDATE session SET num = rowid, index_below = 16777216;
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (last_at DESC) WHERE index_below > 0;
CREATE TRIGGER session_numbered AFTER INSERT ON session WHEN new.num IS NULL BEGIN
  UPDATE session SET num = (SELECT coalesce(max(num), 0) + 1 FROM session)
  WHERE tenant_id = new.tenant_id AND id = new.id;
END;

-- Which turn holds which term, as hashes: what is left of a deleted turn before SQLite merges its
-- entries tells nothing. The row id is num * 16777216 + seq; seq 0 is the title.
CREATE VIRTUAL TABLE turn_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  detail = none,
  tokenize = 'ascii'
);
CREATE TRIGGER turn_forgotten AFTER DELETE ON turn BEGIN
  DELETE FROM turn_word WHERE rowid = old.seq + (
    SELECT num * 16777216 FROM session WHERE tenant_id = old.tenant_id AND id = old.session_id);
END;
CREATE TRIGGER session_forgotten AFTER DELETE ON session BEGIN
  DELETE FROM turn_word WHERE rowid BETWEEN old.num * 16777216 AND old.num * 16777216 + 16777215;
END;
