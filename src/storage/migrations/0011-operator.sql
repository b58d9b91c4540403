-- Who runs the server, who may no longer sign in, and what the console sets for the whole server.
-- session_epoch is in each console session; a session of an earlier one has ended.
ALTER TABLE user ADD COLUMN operator INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN session_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN signed_in_at TEXT;
UPDATE user SET operator = 1
WHERE id = (SELECT id FROM user ORDER BY created_at, id LIMIT 1);

-- By the name of the environment's setting. Every value is sealed, so none is public by accident.
CREATE TABLE system_setting (
  name TEXT PRIMARY KEY,
  value_sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
