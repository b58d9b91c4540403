-- Turns that nobody waits for, and the times at which they begin. Times are epoch milliseconds.
CREATE TABLE schedule (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  -- schedule or reminder.
  kind TEXT COLLATE "C" NOT NULL,
  cron TEXT COLLATE "C",
  at BIGINT,
  time_zone TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  -- 0: the text is given as it stands, without a model.
  thinks BIGINT NOT NULL,
  app_id TEXT COLLATE "C",
  -- new or same.
  session TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  -- JSON.
  webhook_ids TEXT COLLATE "C" NOT NULL,
  max_model_calls BIGINT NOT NULL,
  -- JSON: names of tools, each with the hash that was approved.
  approved_tools TEXT COLLATE "C" NOT NULL,
  enabled BIGINT NOT NULL,
  next_at BIGINT,
  failures BIGINT NOT NULL,
  -- The key or the person that made it.
  key_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX schedule_by_tenant ON schedule (tenant_id, id);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE run (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  schedule_id TEXT COLLATE "C",
  trigger_id TEXT COLLATE "C",
  name TEXT COLLATE "C",
  -- What is asked, as JSON; null once the run is over.
  request TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  session_id TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  webhook_ids TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  late BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  -- The time of the schedule that it is for; null for one by hand.
  fire_at BIGINT,
  started_at BIGINT,
  ended_at BIGINT,
  error_class TEXT COLLATE "C",
  model_calls BIGINT NOT NULL DEFAULT 0,
  input_tokens BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  -- JSON.
  tools TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  reply_chars BIGINT,
  -- The number of its turn in the session.
  seq BIGINT,
  -- Which server runs it, and until when that is believed.
  holder TEXT COLLATE "C",
  lease_until BIGINT,
  -- Whether a model call may have begun.
  called BIGINT NOT NULL DEFAULT 0,
  UNIQUE (schedule_id, fire_at)
);
CREATE INDEX run_by_tenant ON run (tenant_id, id);
CREATE INDEX run_by_schedule ON run (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_waiting ON run (due_at) WHERE status = 'waiting';
CREATE INDEX run_running ON run (lease_until) WHERE status = 'running';

-- Results of runs that a person or a device has not been given.
CREATE TABLE notice (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  run_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  due_at BIGINT NOT NULL,
  made_at BIGINT NOT NULL,
  user_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  given_at BIGINT
);
CREATE INDEX notice_by_person ON notice (tenant_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX notice_by_device ON notice (tenant_id, device_id, id) WHERE device_id IS NOT NULL;

ALTER TABLE app ADD COLUMN reminders BIGINT;
ALTER TABLE tenant_settings ADD COLUMN reminders BIGINT;
