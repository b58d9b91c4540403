-- Pictures of people's talks, as they came.
CREATE TABLE picture (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  -- The turn that goes on without a reader, with which it came.
  turn_id TEXT,
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX picture_by_person ON picture (tenant_id, user_id);

-- The talks that have a picture: a branch has those of its turns.
CREATE TABLE session_picture (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  picture_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, picture_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX session_picture_by_picture ON session_picture (picture_id);

-- Ids of the files of the question, and its pictures, as JSON.
ALTER TABLE talk_turn ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
ALTER TABLE talk_turn ADD COLUMN images TEXT NOT NULL DEFAULT '[]';
