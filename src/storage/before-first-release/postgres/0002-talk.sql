-- As talk of SQLite, where the columns are explained.
ALTER TABLE session ADD COLUMN origin TEXT COLLATE "C" NOT NULL DEFAULT 'api';
UPDATE session SET user_id = NULL WHERE id = 'anon';
UPDATE session SET origin = CASE WHEN user_id IS NOT NULL THEN 'person'
  WHEN id LIKE 'share-%' THEN 'website' WHEN device_id IS NOT NULL THEN 'device' ELSE 'api' END;
ALTER TABLE session ADD COLUMN auto_title TEXT COLLATE "C";
ALTER TABLE session ADD COLUMN family TEXT COLLATE "C";
ALTER TABLE session ADD COLUMN from_seq BIGINT;
CREATE INDEX session_by_person ON session (user_id, tenant_id, last_at DESC)
  WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON session (tenant_id, family, last_at DESC)
  WHERE family IS NOT NULL;
ALTER TABLE tenant_settings ADD COLUMN titles BIGINT NOT NULL DEFAULT 1;

CREATE TABLE talk_turn (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  server TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
    stored BIGINT NOT NULL DEFAULT 0,
  user_text TEXT COLLATE "C" NOT NULL,
  started_at TEXT COLLATE "C" NOT NULL,
  state_at BIGINT NOT NULL,
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX talk_turn_by_session ON talk_turn (tenant_id, session_id);
CREATE INDEX talk_turn_by_person ON talk_turn (user_id);
CREATE INDEX talk_turn_by_state ON talk_turn (state, state_at);

CREATE TABLE talk_event (
  turn_id TEXT COLLATE "C" NOT NULL REFERENCES talk_turn (id) ON DELETE CASCADE,
  first_id BIGINT NOT NULL,
  events TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (turn_id, first_id)
);
