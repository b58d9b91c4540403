-- The tables of src/storage/migrations/0001-init.sql, which explains them, in the same order; two
-- functions of SQLite that statements call; and what several servers share. Text compares by its
-- bytes, as in SQLite.

-- The elements of a JSON array by their numbers. PostgreSQL's own one takes JSON, not text.
CREATE FUNCTION json_each(document TEXT) RETURNS TABLE (key BIGINT, value JSON)
LANGUAGE sql IMMUTABLE STRICT ROWS 20 AS $$
  SELECT n - 1, v FROM json_array_elements(replace(document, '\u0000', '\ufffd')::json)
    WITH ORDINALITY AS element (v, n)
$$;

-- Of the signs of SQLite's function: * and [].
CREATE FUNCTION glob(pattern TEXT, body TEXT) RETURNS BOOLEAN
LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT body COLLATE "C" ~ ('^' || replace(pattern, '*', '.*') || '$')
$$;

-- Tenants and people ------------------------------------------------------------------------------

CREATE TABLE tenant (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  gone_at BIGINT
);
CREATE INDEX tenant_gone ON tenant (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE "user" (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT COLLATE "C" NOT NULL UNIQUE,
  operator BIGINT NOT NULL DEFAULT 0,
  disabled BIGINT NOT NULL DEFAULT 0,
  session_epoch BIGINT NOT NULL DEFAULT 0,
  signed_in_at TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE member (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT COLLATE "C" NOT NULL,
  role TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL DEFAULT 0,
  user_id TEXT COLLATE "C" REFERENCES "user" (id) ON DELETE CASCADE,
  invited_by TEXT COLLATE "C",
  invited_at TEXT COLLATE "C" NOT NULL,
  joined_at TEXT COLLATE "C"
);
CREATE UNIQUE INDEX member_by_email ON member (tenant_id, email);
CREATE INDEX member_by_user ON member (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invited ON member (email) WHERE user_id IS NULL;

CREATE TABLE console_session (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C",
  ended BIGINT NOT NULL DEFAULT 0,
  expires_at BIGINT NOT NULL
);
CREATE INDEX console_session_by_expiry ON console_session (expires_at);

CREATE TABLE system_setting (
  name TEXT COLLATE "C" PRIMARY KEY,
  value_sealed BYTEA NOT NULL
);

CREATE TABLE audit (
  tenant_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  ts BIGINT NOT NULL,
  person TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  action TEXT COLLATE "C" NOT NULL,
  target TEXT COLLATE "C",
  target_name TEXT COLLATE "C",
  address TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_by_ts ON audit (ts);

-- Credentials -------------------------------------------------------------------------------------

CREATE TABLE api_key (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  prefix TEXT COLLATE "C" NOT NULL,
  tail TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL DEFAULT '',
  rate_limit BIGINT NOT NULL,
  daily_tokens BIGINT NOT NULL DEFAULT 0,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  made_by TEXT COLLATE "C",
  person_id TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX api_key_by_tenant ON api_key (tenant_id, created_at DESC);
CREATE INDEX api_key_by_device ON api_key (device_id) WHERE device_id IS NOT NULL;

CREATE TABLE key_use (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  key_id TEXT COLLATE "C" NOT NULL,
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
);

CREATE TABLE provider (
  tenant_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  base_url TEXT COLLATE "C" NOT NULL,
  key_sealed BYTEA NOT NULL,
  failover BIGINT NOT NULL,
  revision TEXT COLLATE "C" NOT NULL
);

-- Assistants --------------------------------------------------------------------------------------

CREATE TABLE persona (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  prompt TEXT COLLATE "C" NOT NULL,
  is_default BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);
CREATE INDEX persona_by_tenant ON persona (tenant_id, created_at DESC);
CREATE UNIQUE INDEX persona_default ON persona (tenant_id) WHERE is_default = 1;

CREATE TABLE app (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  system_prompt TEXT COLLATE "C",
  persona_id TEXT COLLATE "C",
  model TEXT COLLATE "C",
  thinking BIGINT,
  temperature DOUBLE PRECISION,
  kb_enabled BIGINT NOT NULL DEFAULT 1,
  tools_enabled TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX app_by_tenant ON app (tenant_id, created_at DESC);

CREATE TABLE tenant_settings (
  tenant_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  model TEXT COLLATE "C",
  thinking BIGINT NOT NULL DEFAULT 0,
  temperature DOUBLE PRECISION,
  price_in DOUBLE PRECISION,
  price_out DOUBLE PRECISION,
  mcp_tools TEXT COLLATE "C" NOT NULL DEFAULT '[]'
);

-- Conversations -----------------------------------------------------------------------------------

CREATE SEQUENCE session_num;
CREATE TABLE session (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  num BIGINT DEFAULT nextval('session_num'),
  title TEXT COLLATE "C",
  turn_count BIGINT NOT NULL,
  first_at TEXT COLLATE "C" NOT NULL,
  last_at TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  summary TEXT COLLATE "C" NOT NULL DEFAULT '',
  folded_through BIGINT NOT NULL DEFAULT 0,
  index_below BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (last_at DESC) WHERE index_below > 0;

CREATE TABLE turn (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  app_id TEXT COLLATE "C",
  user_text TEXT COLLATE "C" NOT NULL,
  reply TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  details TEXT COLLATE "C",
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);

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

CREATE TABLE response_item (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  item TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX response_item_by_use ON response_item (tenant_id, used_at, id, bytes);
CREATE INDEX response_item_by_age ON response_item (used_at);

-- Knowledge ---------------------------------------------------------------------------------------

CREATE TABLE kb_source (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT COLLATE "C" NOT NULL,
  title TEXT COLLATE "C" NOT NULL,
  is_named BIGINT NOT NULL,
  file_name TEXT COLLATE "C" NOT NULL,
  media_type TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  url TEXT COLLATE "C",
  refresh TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL,
  error_class TEXT COLLATE "C",
  error TEXT COLLATE "C",
  pages BIGINT,
  created_at TEXT COLLATE "C" NOT NULL,
  checked_at TEXT COLLATE "C",
  changed_at TEXT COLLATE "C",
  due_at BIGINT,
  attempts BIGINT NOT NULL DEFAULT 0,
  misses BIGINT NOT NULL DEFAULT 0,
  text_hash TEXT COLLATE "C",
  etag TEXT COLLATE "C",
  last_modified TEXT COLLATE "C"
);
CREATE INDEX kb_source_by_tenant ON kb_source (tenant_id, created_at DESC);
CREATE INDEX kb_source_by_due ON kb_source (due_at) WHERE due_at IS NOT NULL;

-- Several servers number documents.
CREATE SEQUENCE kb_doc_num;
CREATE TABLE kb_doc (
  num BIGINT PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  title TEXT COLLATE "C" NOT NULL,
  char_count BIGINT NOT NULL,
  chunk_count BIGINT NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  source_id TEXT COLLATE "C",
  part BIGINT,
  parts BIGINT,
  stage TEXT COLLATE "C" NOT NULL DEFAULT 'live',
  embed_model TEXT COLLATE "C" NOT NULL,
  embed_attempts BIGINT NOT NULL DEFAULT 0,
  embed_after BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX kb_doc_by_tenant ON kb_doc (tenant_id, created_at DESC);
CREATE INDEX kb_doc_by_model ON kb_doc (embed_model);
CREATE INDEX kb_doc_by_source ON kb_doc (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX kb_doc_by_stage ON kb_doc (stage) WHERE stage <> 'live';
CREATE INDEX kb_doc_by_size ON kb_doc (tenant_id, stage, chunk_count);

CREATE TABLE kb_chunk (
  doc_num BIGINT NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  page BIGINT,
  heading TEXT COLLATE "C",
  PRIMARY KEY (doc_num, seq)
);

-- Which chunk holds which term, and no text.
CREATE TABLE kb_word (
  -- doc_num * 1024 + seq, as in kb_vector.
  key BIGINT PRIMARY KEY,
  -- Each term once, with the tag of its tenant in front of it.
  terms TSVECTOR NOT NULL,
  -- How often it holds those terms that it holds more than once.
  repeated JSONB
);
-- Without a list of pending entries, which every search would read from beginning to end.
CREATE INDEX kb_word_by_term ON kb_word USING gin (terms) WITH (fastupdate = off);

CREATE TABLE kb_vector (
  key BIGINT PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  -- Of unit length; of different lengths side by side.
  vector HALFVEC NOT NULL
);
-- A search reads all vectors of a tenant; in a table of their own each would be read apart.
ALTER TABLE kb_vector ALTER COLUMN vector SET STORAGE MAIN;
CREATE INDEX kb_vector_by_space ON kb_vector (tenant_id, model);

CREATE TABLE kb_citation (
  doc_num BIGINT NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (doc_num, day)
);

-- Tools -------------------------------------------------------------------------------------------

CREATE TABLE mcp_server (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  header_name TEXT COLLATE "C",
  header_sealed BYTEA,
  enabled BIGINT NOT NULL,
  revision TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL DEFAULT 'never',
  error_class TEXT COLLATE "C",
  protocol TEXT COLLATE "C",
  latency_ms BIGINT,
  checked_at TEXT COLLATE "C",
  fresh_until BIGINT,
  retry_at BIGINT,
  failures BIGINT NOT NULL DEFAULT 0,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX mcp_server_by_name ON mcp_server (tenant_id, name);
CREATE INDEX mcp_server_by_retry ON mcp_server (retry_at) WHERE retry_at IS NOT NULL;

CREATE TABLE mcp_tool (
  server_id TEXT COLLATE "C" NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  position BIGINT NOT NULL,
  title TEXT COLLATE "C",
  description TEXT COLLATE "C" NOT NULL,
  read_only BIGINT NOT NULL,
  destructive BIGINT NOT NULL,
  schema TEXT COLLATE "C" NOT NULL,
  schema_chars BIGINT NOT NULL,
  param_headers TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C",
  hash TEXT COLLATE "C" NOT NULL,
  approved_hash TEXT COLLATE "C",
  approved_description TEXT COLLATE "C",
  approved_schema TEXT COLLATE "C",
  PRIMARY KEY (server_id, name)
);

-- Devices -----------------------------------------------------------------------------------------

CREATE TABLE device (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  hw_model TEXT COLLATE "C",
  firmware TEXT COLLATE "C",
  mac TEXT COLLATE "C",
  client_hash TEXT COLLATE "C",
  code_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  code_expires_at TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  made_by TEXT COLLATE "C",
  activated_at TEXT COLLATE "C",
  last_seen_at TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;

-- Links for visitors ------------------------------------------------------------------------------

CREATE TABLE share (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT COLLATE "C" NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  origins TEXT COLLATE "C" NOT NULL,
  daily_turns BIGINT NOT NULL,
  daily_tokens BIGINT NOT NULL DEFAULT 0,
  made_by TEXT COLLATE "C",
  expires_at TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX share_by_app ON share (app_id, created_at DESC);

CREATE TABLE share_day (
  share_id TEXT COLLATE "C" NOT NULL REFERENCES share (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  turns BIGINT NOT NULL,
  PRIMARY KEY (share_id, day)
);

-- What is counted and logged ----------------------------------------------------------------------

CREATE TABLE usage_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  app_id TEXT COLLATE "C" NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, day, app_id)
);

CREATE TABLE usage_key_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, key_id, app_id, channel)
);

CREATE TABLE usage_writer (
  id TEXT COLLATE "C" PRIMARY KEY,
  batch BIGINT NOT NULL,
  written_at BIGINT NOT NULL
);

CREATE TABLE request_log (
  tenant_id TEXT COLLATE "C" NOT NULL,
  ts BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  endpoint TEXT COLLATE "C" NOT NULL,
  status BIGINT NOT NULL,
  latency_ms BIGINT,
  first_ms BIGINT,
  total_ms BIGINT,
  session_id TEXT COLLATE "C",
  text_chars BIGINT,
  error_class TEXT COLLATE "C",
  channel TEXT COLLATE "C",
  PRIMARY KEY (tenant_id, ts, id)
);
CREATE INDEX request_log_by_status ON request_log (tenant_id, status, ts, id);
CREATE INDEX request_log_by_session ON request_log (tenant_id, session_id, ts, id)
  WHERE session_id IS NOT NULL;

CREATE TABLE request_log_count (
  tenant_id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  status BIGINT NOT NULL,
  latency_ms BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, status, latency_ms)
) WITH (fillfactor = 70);
-- The lock keeps two servers, which write their rows in different orders, from a deadlock.
CREATE FUNCTION count_log_row() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('moonbase request_log_count', 0));
  IF TG_OP = 'INSERT' THEN
    INSERT INTO request_log_count AS counted (tenant_id, day, status, latency_ms, count)
    VALUES (new.tenant_id, new.ts / 86400000, new.status, coalesce(new.latency_ms, -1), 1),
      (new.tenant_id, -1, new.status, coalesce(new.latency_ms, -1), 1)
    ON CONFLICT (tenant_id, day, status, latency_ms) DO UPDATE SET count = counted.count + 1;
  ELSE
    UPDATE request_log_count SET count = count - 1
    WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
      AND latency_ms = coalesce(old.latency_ms, -1);
    DELETE FROM request_log_count
    WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
      AND latency_ms = coalesce(old.latency_ms, -1) AND count = 0;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER request_log_counted AFTER INSERT OR DELETE ON request_log
FOR EACH ROW EXECUTE FUNCTION count_log_row();

-- What servers share ------------------------------------------------------------------------------

-- What the servers of one database must agree on. None of it need outlive a crash of the database,
-- so it is not written to its log, and taking a ticket or a slot waits for no flush.

-- Servers, and when each last said that it lives.
CREATE UNLOGGED TABLE replica (
  id TEXT COLLATE "C" PRIMARY KEY,
  seen_at TIMESTAMPTZ NOT NULL
);

-- Turns that run or wait. Of each session the one with the smallest ticket runs.
CREATE SEQUENCE turn_ticket_number;
CREATE UNLOGGED TABLE turn_ticket (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  ticket BIGINT NOT NULL,
  replica TEXT COLLATE "C" NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (tenant_id, session_id, ticket)
);
CREATE INDEX turn_ticket_by_replica ON turn_ticket (replica);

-- Events of a subject in a window of time that began with the first of them.
CREATE UNLOGGED TABLE rate_window (
  name TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  used BIGINT NOT NULL,
  ends_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (name, subject)
) WITH (fillfactor = 70);

-- Hashes of codes that are taken once.
CREATE UNLOGGED TABLE one_time_code (
  kind TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  value TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  tries BIGINT NOT NULL,
  ends_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (kind, name)
);

-- Who does what only one server may do; `holder` begins with the id of a replica.
CREATE UNLOGGED TABLE lease (
  name TEXT COLLATE "C" PRIMARY KEY,
  holder TEXT COLLATE "C" NOT NULL,
  ends_at TIMESTAMPTZ NOT NULL
);

-- What servers tell each other.
CREATE UNLOGGED TABLE announcement (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  replica TEXT COLLATE "C" NOT NULL,
  at TIMESTAMPTZ NOT NULL
);
CREATE INDEX announcement_by_time ON announcement (at);

-- Uploads that wait to be read, in pieces: whichever server reads them has them here. These were
-- acknowledged, so they outlive a crash.
CREATE TABLE shared_file (
  id TEXT COLLATE "C" NOT NULL,
  piece BIGINT NOT NULL,
  bytes BYTEA NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (id, piece)
);
