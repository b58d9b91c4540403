-- Turns that nobody waits for, and the times at which they begin. Times are epoch milliseconds.
CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- schedule or reminder.
  kind TEXT NOT NULL,
  cron TEXT,
  at INTEGER,
  time_zone TEXT NOT NULL,
  text TEXT NOT NULL,
  -- 0: the text is given as it stands, without a model.
  thinks INTEGER NOT NULL,
  app_id TEXT,
  -- new or same.
  session TEXT NOT NULL,
  subject TEXT,
  device_id TEXT,
  -- JSON.
  webhook_ids TEXT NOT NULL,
  max_model_calls INTEGER NOT NULL,
  -- JSON: names of tools, each with the hash that was approved.
  approved_tools TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  next_at INTEGER,
  failures INTEGER NOT NULL,
  -- The key or the person that made it.
  key_id TEXT,
  user_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX schedule_by_tenant ON schedule (tenant_id, id);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  schedule_id TEXT,
  trigger_id TEXT,
  name TEXT,
  -- What is asked, as JSON; null once the run is over.
  request TEXT,
  status TEXT NOT NULL,
  app_id TEXT,
  session_id TEXT NOT NULL,
  subject TEXT,
  device_id TEXT,
  webhook_ids TEXT NOT NULL,
  key_id TEXT,
  user_id TEXT,
  late INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  -- The time of the schedule that it is for; null for one by hand.
  fire_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  error_class TEXT,
  model_calls INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  -- JSON.
  tools TEXT NOT NULL DEFAULT '[]',
  reply_chars INTEGER,
  -- The number of its turn in the session.
  seq INTEGER,
  -- Which server runs it, and until when that is believed.
  holder TEXT,
  lease_until INTEGER,
  -- Whether a model call may have begun.
  called INTEGER NOT NULL DEFAULT 0,
  UNIQUE (schedule_id, fire_at)
) STRICT;
CREATE INDEX run_by_tenant ON run (tenant_id, id);
CREATE INDEX run_by_schedule ON run (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_waiting ON run (due_at) WHERE status = 'waiting';
CREATE INDEX run_running ON run (lease_until) WHERE status = 'running';

-- Results of runs that a person or a device has not been given.
CREATE TABLE notice (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  run_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  user_id TEXT,
  device_id TEXT,
  given_at INTEGER
) STRICT;
CREATE INDEX notice_by_person ON notice (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX notice_by_device ON notice (tenant_id, device_id, id) WHERE device_id IS NOT NULL;

ALTER TABLE app ADD COLUMN reminders INTEGER;
ALTER TABLE tenant_settings ADD COLUMN reminders INTEGER;
