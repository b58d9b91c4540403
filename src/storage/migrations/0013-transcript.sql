-- Folded turns stay as the transcript of their session, so there are many of them. In rows of their
-- own they take half the disk that they took inside their key, where a long text fills pages alone.
CREATE TABLE kept_turn (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  -- The app that answered.
  app_id TEXT,
  user_text TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- JSON: how the turn was answered. Null for turns of earlier versions.
  details TEXT,
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;
INSERT INTO kept_turn (tenant_id, session_id, seq, app_id, user_text, reply, created_at)
SELECT t.tenant_id, t.session_id, t.seq, s.app_id, t.user_text, t.reply, t.created_at
FROM turn t JOIN session s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
ORDER BY t.tenant_id, t.session_id, t.seq;
DROP TABLE turn;
ALTER TABLE kept_turn RENAME TO turn;

-- What a person called the conversation; null: its first text is its title.
ALTER TABLE session ADD COLUMN title TEXT;
