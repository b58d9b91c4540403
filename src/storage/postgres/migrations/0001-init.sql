-- The tables of src/storage/migrations, as they are after all of them, and two functions of SQLite
-- that statements call. Text compares by its bytes, as in SQLite. The two indexes of the knowledge
-- base are in 0002-search.sql.

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

CREATE TABLE tenant (
  id TEXT COLLATE "C" PRIMARY KEY,
  created_at TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C"
);

CREATE TABLE "user" (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT COLLATE "C" NOT NULL UNIQUE,
  created_at TEXT COLLATE "C" NOT NULL,
  operator BIGINT NOT NULL DEFAULT 0,
  disabled BIGINT NOT NULL DEFAULT 0,
  session_epoch BIGINT NOT NULL DEFAULT 0,
  signed_in_at TEXT COLLATE "C"
);

CREATE TABLE api_key (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  prefix TEXT COLLATE "C" NOT NULL,
  rate_limit BIGINT NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  name TEXT COLLATE "C" NOT NULL DEFAULT '',
  tail TEXT COLLATE "C",
  daily_tokens BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX api_key_by_tenant ON api_key (tenant_id, created_at DESC);
CREATE INDEX api_key_by_device ON api_key (device_id) WHERE device_id IS NOT NULL;

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

CREATE TABLE session (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  turn_count BIGINT NOT NULL,
  first_at TEXT COLLATE "C" NOT NULL,
  last_at TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  summary TEXT COLLATE "C" NOT NULL DEFAULT '',
  folded_through BIGINT NOT NULL DEFAULT 0,
  title TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);

CREATE TABLE request_log (
  tenant_id TEXT COLLATE "C" NOT NULL,
  ts BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  endpoint TEXT COLLATE "C" NOT NULL,
  status BIGINT NOT NULL,
  latency_ms BIGINT,
  session_id TEXT COLLATE "C",
  text_chars BIGINT,
  error_class TEXT COLLATE "C",
  channel TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  first_ms BIGINT,
  total_ms BIGINT,
  PRIMARY KEY (tenant_id, ts, id)
);

CREATE TABLE usage_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  app_id TEXT COLLATE "C" NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, day, app_id)
);

CREATE TABLE kb_doc (
  num BIGINT PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  title TEXT COLLATE "C" NOT NULL,
  char_count BIGINT NOT NULL,
  chunk_count BIGINT NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  -- The model whose vectors the chunks have; another one than the server's: to be embedded anew.
  embed_model TEXT COLLATE "C" NOT NULL,
  embed_attempts BIGINT NOT NULL DEFAULT 0,
  -- Not tried again before (epoch milliseconds).
  embed_after BIGINT NOT NULL DEFAULT 0,
  source_id TEXT COLLATE "C",
  part BIGINT,
  parts BIGINT,
  stage TEXT COLLATE "C" NOT NULL DEFAULT 'live'
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

CREATE TABLE device (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  hw_model TEXT COLLATE "C",
  firmware TEXT COLLATE "C",
  code_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  code_expires_at TEXT COLLATE "C",
  -- The key that the current code was exchanged for; null while the code waits.
  key_id TEXT COLLATE "C",
  activated_at TEXT COLLATE "C",
  last_seen_at TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  mac TEXT COLLATE "C",
  client_hash TEXT COLLATE "C"
);
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;

CREATE TABLE provider (
  tenant_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  base_url TEXT COLLATE "C" NOT NULL,
  key_sealed BYTEA NOT NULL,
  failover BIGINT NOT NULL,
  revision TEXT COLLATE "C" NOT NULL
);

CREATE TABLE kb_source (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT COLLATE "C" NOT NULL,
  title TEXT COLLATE "C" NOT NULL,
  -- The title was given; that of the page does not replace it.
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
  -- When it is to be worked on (epoch milliseconds); null: not before somebody asks.
  due_at BIGINT,
  -- Failures of the embedder in a row, and checks in a row that found no page.
  attempts BIGINT NOT NULL DEFAULT 0,
  misses BIGINT NOT NULL DEFAULT 0,
  -- Of the text that its documents have.
  text_hash TEXT COLLATE "C",
  etag TEXT COLLATE "C",
  last_modified TEXT COLLATE "C"
);
CREATE INDEX kb_source_by_tenant ON kb_source (tenant_id, created_at DESC);
CREATE INDEX kb_source_by_due ON kb_source (due_at) WHERE due_at IS NOT NULL;

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

CREATE TABLE key_use (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  key_id TEXT COLLATE "C" NOT NULL,
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
);

CREATE TABLE mcp_server (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  header_name TEXT COLLATE "C",
  header_sealed BYTEA,
  enabled BIGINT NOT NULL,
  revision TEXT COLLATE "C" NOT NULL,
  -- never, ready or failed.
  state TEXT COLLATE "C" NOT NULL DEFAULT 'never',
  error_class TEXT COLLATE "C",
  protocol TEXT COLLATE "C",
  latency_ms BIGINT,
  checked_at TEXT COLLATE "C",
  -- Epoch milliseconds: until when the listing is believed, and when it is tried again.
  fresh_until BIGINT,
  retry_at BIGINT,
  -- In a row.
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
  -- JSON as the model is offered it; empty where reason says why it cannot be.
  schema TEXT COLLATE "C" NOT NULL,
  schema_chars BIGINT NOT NULL,
  param_headers TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C",
  -- Of the definition as it is, and as it was when somebody approved it.
  hash TEXT COLLATE "C" NOT NULL,
  approved_hash TEXT COLLATE "C",
  approved_description TEXT COLLATE "C",
  approved_schema TEXT COLLATE "C",
  PRIMARY KEY (server_id, name)
);

CREATE TABLE kb_citation (
  doc_num BIGINT NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (doc_num, day)
);

CREATE TABLE system_setting (
  name TEXT COLLATE "C" PRIMARY KEY,
  value_sealed BYTEA NOT NULL
);

CREATE TABLE turn (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  -- The app that answered.
  app_id TEXT COLLATE "C",
  user_text TEXT COLLATE "C" NOT NULL,
  reply TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  -- JSON: how the turn was answered. Null for turns of earlier versions.
  details TEXT COLLATE "C",
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE member (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT COLLATE "C" NOT NULL,
  -- owner, editor or viewer.
  role TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" REFERENCES "user" (id) ON DELETE CASCADE,
  invited_at TEXT COLLATE "C" NOT NULL,
  joined_at TEXT COLLATE "C"
);
CREATE UNIQUE INDEX member_by_email ON member (tenant_id, email);
CREATE INDEX member_by_user ON member (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invited ON member (email) WHERE user_id IS NULL;

CREATE TABLE audit (
  tenant_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  ts BIGINT NOT NULL,
  person TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  action TEXT COLLATE "C" NOT NULL,
  target TEXT COLLATE "C",
  address TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_by_ts ON audit (ts);

CREATE TABLE share (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT COLLATE "C" NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  origins TEXT COLLATE "C" NOT NULL,
  daily_turns BIGINT NOT NULL,
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
