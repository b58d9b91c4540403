-- Who began the session: person, website (a share), device or api (other keys).
ALTER TABLE session ADD COLUMN origin TEXT NOT NULL DEFAULT 'api';
-- The shared session of callers who name none belongs to nobody.
UPDATE session SET user_id = NULL WHERE id = 'anon';
UPDATE session SET origin = CASE WHEN user_id IS NOT NULL THEN 'person'
  WHEN id LIKE 'share-%' THEN 'website' WHEN device_id IS NOT NULL THEN 'device' ELSE 'api' END;
-- The title that a model gave; one given by hand is in title.
ALTER TABLE session ADD COLUMN auto_title TEXT;
-- Versions of one conversation share a family. from_seq is the turn after which a branch begins.
ALTER TABLE session ADD COLUMN family TEXT;
ALTER TABLE session ADD COLUMN from_seq INTEGER;
CREATE INDEX session_by_person ON session (user_id, tenant_id, last_at DESC)
  WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON session (tenant_id, family, last_at DESC)
  WHERE family IS NOT NULL;
ALTER TABLE tenant_settings ADD COLUMN titles INTEGER NOT NULL DEFAULT 1;

-- Turns that go on when their reader leaves.
CREATE TABLE talk_turn (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  -- The process that runs it.
  server TEXT NOT NULL,
  -- running, interrupted or ended.
  state TEXT NOT NULL,
  -- Whether an ended turn is in its session.
  stored INTEGER NOT NULL DEFAULT 0,
  user_text TEXT NOT NULL,
  started_at TEXT NOT NULL,
  -- When the state began, in epoch milliseconds.
  state_at INTEGER NOT NULL,
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX talk_turn_by_session ON talk_turn (tenant_id, session_id);
CREATE INDEX talk_turn_by_person ON talk_turn (user_id);
CREATE INDEX talk_turn_by_state ON talk_turn (state, state_at);

-- What such a turn has told, in batches: events is a JSON array whose first one has first_id.
CREATE TABLE talk_event (
  turn_id TEXT NOT NULL REFERENCES talk_turn (id) ON DELETE CASCADE,
  first_id INTEGER NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (turn_id, first_id)
) STRICT, WITHOUT ROWID;
