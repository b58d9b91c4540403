-- As pictures of SQLite, where tables and columns are explained.
CREATE TABLE picture (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL,
  turn_id TEXT COLLATE "C",
  media_type TEXT COLLATE "C" NOT NULL,
  width BIGINT NOT NULL,
  height BIGINT NOT NULL,
  bytes BYTEA NOT NULL
);
CREATE INDEX picture_by_person ON picture (tenant_id, user_id);

CREATE TABLE session_picture (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  picture_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, session_id, picture_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX session_picture_by_picture ON session_picture (picture_id);

ALTER TABLE talk_turn ADD COLUMN files TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE talk_turn ADD COLUMN images TEXT COLLATE "C" NOT NULL DEFAULT '[]';
