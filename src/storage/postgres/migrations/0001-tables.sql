-- The tables of src/storage/migrations/0001-tables.sql, which explains them, in the same order; two
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
  daily_tokens BIGINT NOT NULL DEFAULT 0,
  max_docs BIGINT,
  disabled BIGINT NOT NULL DEFAULT 0,
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
  daily_tokens BIGINT NOT NULL DEFAULT 0,
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

CREATE TABLE passkey (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  credential_id TEXT COLLATE "C" NOT NULL UNIQUE,
  public_key BYTEA NOT NULL,
  counter BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  transports TEXT COLLATE "C" NOT NULL,
  backed_up BIGINT NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  last_used_at TEXT COLLATE "C"
);
CREATE INDEX passkey_by_user ON passkey (user_id, created_at);

CREATE TABLE signin_link (
  hash TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
  expires_at BIGINT NOT NULL
);

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
  told_spent BIGINT,
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
  icon TEXT COLLATE "C",
  description TEXT COLLATE "C",
  greeting TEXT COLLATE "C",
  starters TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  system_prompt TEXT COLLATE "C",
  persona_id TEXT COLLATE "C",
  model TEXT COLLATE "C",
  thinking BIGINT,
  temperature DOUBLE PRECISION,
  kb_enabled BIGINT NOT NULL DEFAULT 1,
  collections TEXT COLLATE "C",
  tools_enabled TEXT COLLATE "C",
  may_ask BIGINT,
  reminders BIGINT,
  remembers TEXT COLLATE "C",
  version BIGINT NOT NULL DEFAULT 1,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX app_by_tenant ON app (tenant_id, created_at DESC);

CREATE TABLE app_version (
  app_id TEXT COLLATE "C" NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  version BIGINT NOT NULL,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  at TEXT COLLATE "C" NOT NULL,
  person TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  changed TEXT COLLATE "C" NOT NULL,
  app TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (app_id, version)
);

CREATE TABLE tenant_settings (
  tenant_id TEXT COLLATE "C" PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  model TEXT COLLATE "C",
  thinking BIGINT NOT NULL DEFAULT 0,
  temperature DOUBLE PRECISION,
  price_in DOUBLE PRECISION,
  price_out DOUBLE PRECISION,
  mcp_tools TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  collections TEXT COLLATE "C",
  may_ask BIGINT,
  reminders BIGINT,
  remembers TEXT COLLATE "C",
  titles BIGINT NOT NULL DEFAULT 1,
  time_zone TEXT COLLATE "C",
  language TEXT COLLATE "C",
  ocr TEXT COLLATE "C",
  ocr_model TEXT COLLATE "C"
);

CREATE TABLE prompt (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  title TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  created_at TEXT COLLATE "C" NOT NULL,
  UNIQUE (tenant_id, name)
);

CREATE TABLE memory (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  subject TEXT COLLATE "C" NOT NULL,
  scope TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  text_key TEXT COLLATE "C" NOT NULL,
  pinned BIGINT NOT NULL DEFAULT 0,
  source TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  updated_at TEXT COLLATE "C" NOT NULL,
  used_at TEXT COLLATE "C",
  vector_model TEXT COLLATE "C",
  vector BYTEA,
  UNIQUE (tenant_id, subject, scope, text_key)
);
CREATE INDEX memory_by_subject ON memory (subject);

-- Conversations -----------------------------------------------------------------------------------

CREATE SEQUENCE session_num;
CREATE TABLE session (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  num BIGINT DEFAULT nextval('session_num'),
  origin TEXT COLLATE "C" NOT NULL DEFAULT 'api',
  title TEXT COLLATE "C",
  auto_title TEXT COLLATE "C",
  folder TEXT COLLATE "C",
  pinned BIGINT NOT NULL DEFAULT 0,
  archived BIGINT NOT NULL DEFAULT 0,
  family TEXT COLLATE "C",
  from_seq BIGINT,
  turn_count BIGINT NOT NULL,
  first_at TEXT COLLATE "C" NOT NULL,
  last_at TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  summary TEXT COLLATE "C" NOT NULL DEFAULT '',
  folded_through BIGINT NOT NULL DEFAULT 0,
  index_from BIGINT NOT NULL DEFAULT 0,
  index_below BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (tenant_id, last_at DESC) WHERE index_below > 0;
CREATE INDEX session_by_person ON session (user_id, tenant_id, last_at DESC)
  WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON session (tenant_id, family, last_at DESC)
  WHERE family IS NOT NULL;
CREATE INDEX session_marked ON session (tenant_id, last_at) WHERE pinned = 1;

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

CREATE TABLE talk_turn (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  server TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  stored BIGINT NOT NULL DEFAULT 0,
  user_text TEXT COLLATE "C" NOT NULL,
  files TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  images TEXT COLLATE "C" NOT NULL DEFAULT '[]',
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

CREATE TABLE session_file (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  file_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, session_id, file_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);

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

CREATE TABLE feedback (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  giver TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  rating BIGINT NOT NULL,
  reason TEXT COLLATE "C",
  text TEXT COLLATE "C",
  shared BIGINT NOT NULL DEFAULT 0,
  ts BIGINT NOT NULL,
  UNIQUE (tenant_id, session_id, seq, giver),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX feedback_by_id ON feedback (tenant_id, id DESC);

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

CREATE TABLE kb_collection (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  gone BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX kb_collection_by_name ON kb_collection (tenant_id, name) WHERE gone = 0;

-- Knowledge ---------------------------------------------------------------------------------------

CREATE TABLE kb_source (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT COLLATE "C" NOT NULL,
  collection_id TEXT COLLATE "C" NOT NULL DEFAULT 'none',
  title TEXT COLLATE "C" NOT NULL,
  is_named BIGINT NOT NULL,
  file_name TEXT COLLATE "C" NOT NULL,
  media_type TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  origin TEXT COLLATE "C",
  sha256 TEXT COLLATE "C",
  replaces TEXT COLLATE "C",
  url TEXT COLLATE "C",
  refresh TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL,
  error_class TEXT COLLATE "C",
  error TEXT COLLATE "C",
  pages BIGINT,
  pages_done BIGINT,
  ocr_pages BIGINT NOT NULL DEFAULT 0,
  pages_unread BIGINT NOT NULL DEFAULT 0,
  key_id TEXT COLLATE "C",
  app_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  spooled_until BIGINT,
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
CREATE INDEX kb_source_by_origin ON kb_source (tenant_id, origin) WHERE origin IS NOT NULL;
CREATE INDEX kb_source_by_replaced ON kb_source (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX kb_source_by_spooled ON kb_source (spooled_until) WHERE spooled_until IS NOT NULL;

CREATE TABLE scan_page (
  source_id TEXT COLLATE "C" NOT NULL REFERENCES kb_source (id) ON DELETE CASCADE,
  page BIGINT NOT NULL,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  file_hash TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (source_id, page)
);
CREATE INDEX scan_page_by_tenant ON scan_page (tenant_id);

CREATE TABLE chat_file (
  id TEXT COLLATE "C" PRIMARY KEY REFERENCES kb_source (id) ON DELETE CASCADE,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX chat_file_by_tenant ON chat_file (tenant_id, expires_at);
CREATE INDEX chat_file_by_expiry ON chat_file (expires_at);

-- Several servers number documents.
CREATE SEQUENCE kb_doc_num;
CREATE TABLE kb_doc (
  num BIGINT PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  collection_id TEXT COLLATE "C" NOT NULL DEFAULT 'none',
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
CREATE INDEX kb_doc_by_collection ON kb_doc (tenant_id, stage, collection_id, chunk_count);

CREATE TABLE kb_chunk (
  doc_num BIGINT NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  seq BIGINT NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  page BIGINT,
  heading TEXT COLLATE "C",
  ocr BIGINT NOT NULL DEFAULT 0,
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
CREATE INDEX kb_citation_by_day ON kb_citation (day);

-- Tools -------------------------------------------------------------------------------------------

CREATE TABLE mcp_server (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  auth TEXT COLLATE "C" NOT NULL DEFAULT 'none',
  header_name TEXT COLLATE "C",
  header_sealed BYTEA,
  client_id TEXT COLLATE "C",
  client_secret_sealed BYTEA,
  scopes TEXT COLLATE "C",
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

CREATE TABLE mcp_grant (
  server_id TEXT COLLATE "C" PRIMARY KEY REFERENCES mcp_server (id) ON DELETE CASCADE,
  sealed BYTEA NOT NULL,
  version TEXT COLLATE "C" NOT NULL,
  signed_in_by TEXT COLLATE "C",
  signed_in_at TEXT COLLATE "C" NOT NULL
);

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
  approved_at TEXT COLLATE "C",
  approved_by TEXT COLLATE "C",
  ask BIGINT NOT NULL DEFAULT 0,
  called_at TEXT COLLATE "C",
  called_ok BIGINT,
  PRIMARY KEY (server_id, name)
);

CREATE TABLE open_ask (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C",
  key_id TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL DEFAULT 'open',
  question TEXT COLLATE "C",
  answer TEXT COLLATE "C",
  expires_at BIGINT NOT NULL
);
CREATE INDEX open_ask_by_end ON open_ask (expires_at);

CREATE TABLE ask_grant (
  tenant_id TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  server_id TEXT COLLATE "C" NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  tool TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, session_id, server_id, tool),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ask_grant_by_server ON ask_grant (server_id);

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
  told_online BIGINT NOT NULL DEFAULT 0,
  created_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;
CREATE INDEX device_by_presence ON device (told_online, last_seen_at);

-- Links for visitors ------------------------------------------------------------------------------

CREATE TABLE share (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT COLLATE "C" NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  token_sealed BYTEA,
  paused BIGINT NOT NULL DEFAULT 0,
  look TEXT COLLATE "C" NOT NULL DEFAULT '{}',
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

-- Webhooks and runs -------------------------------------------------------------------------------

CREATE TABLE webhook (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  events TEXT COLLATE "C" NOT NULL,
  format TEXT COLLATE "C" NOT NULL,
  include_reply BIGINT NOT NULL,
  enabled BIGINT NOT NULL,
  secret_sealed BYTEA NOT NULL,
  secret_tail TEXT COLLATE "C" NOT NULL,
  former_sealed BYTEA,
  former_until BIGINT,
  last_status BIGINT,
  last_at TEXT COLLATE "C",
  failures BIGINT NOT NULL DEFAULT 0,
  failing_since BIGINT,
  created_at TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C",
  reply_since BIGINT
);
CREATE INDEX webhook_by_tenant ON webhook (tenant_id, id);

CREATE TABLE webhook_delivery (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event TEXT COLLATE "C" NOT NULL,
  payload TEXT COLLATE "C",
  at TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  status BIGINT,
  tries BIGINT NOT NULL DEFAULT 0,
  due_at BIGINT NOT NULL,
  taken_until BIGINT
);
CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_by_tenant ON webhook_delivery (tenant_id, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, due_at, id)
  WHERE state = 'waiting';
CREATE INDEX webhook_delivery_taken ON webhook_delivery (taken_until) WHERE taken_until IS NOT NULL;

CREATE TABLE run_trigger (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  app_id TEXT COLLATE "C",
  text TEXT COLLATE "C" NOT NULL,
  session TEXT COLLATE "C" NOT NULL,
  webhook_ids TEXT COLLATE "C" NOT NULL,
  enabled BIGINT NOT NULL,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  last_at TEXT COLLATE "C",
  count BIGINT NOT NULL DEFAULT 0,
  key_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  saved_at BIGINT
);
CREATE INDEX run_trigger_by_tenant ON run_trigger (tenant_id, id);

CREATE TABLE schedule (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  cron TEXT COLLATE "C",
  at BIGINT,
  time_zone TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  thinks BIGINT NOT NULL,
  app_id TEXT COLLATE "C",
  session TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C",
  device_id TEXT COLLATE "C",
  webhook_ids TEXT COLLATE "C" NOT NULL,
  max_model_calls BIGINT NOT NULL,
  approved_tools TEXT COLLATE "C" NOT NULL,
  enabled BIGINT NOT NULL,
  next_at BIGINT,
  failures BIGINT NOT NULL,
  key_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  created_at TEXT COLLATE "C" NOT NULL,
  saved_at BIGINT,
  created_by TEXT COLLATE "C"
);
CREATE INDEX schedule_by_tenant ON schedule (tenant_id, id);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE run (
  id TEXT COLLATE "C" PRIMARY KEY,
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  schedule_id TEXT COLLATE "C",
  trigger_id TEXT COLLATE "C",
  name TEXT COLLATE "C",
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
  fire_at BIGINT,
  started_at BIGINT,
  ended_at BIGINT,
  error_class TEXT COLLATE "C",
  model_calls BIGINT NOT NULL DEFAULT 0,
  input_tokens BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  tools TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  reply_chars BIGINT,
  seq BIGINT,
  holder TEXT COLLATE "C",
  lease_until BIGINT,
  called BIGINT NOT NULL DEFAULT 0,
  ask_bytes BIGINT NOT NULL DEFAULT 0,
  named_at BIGINT,
  UNIQUE (schedule_id, fire_at)
);
CREATE INDEX run_by_tenant ON run (tenant_id, id);
CREATE INDEX run_by_schedule ON run (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_by_session ON run (schedule_id, session_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_due ON run (due_at) WHERE status = 'waiting';
CREATE INDEX run_waiting ON run (tenant_id) WHERE status = 'waiting';
CREATE INDEX run_running ON run (tenant_id, lease_until) WHERE status = 'running';
CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE run_ask (
  run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  ask TEXT COLLATE "C" NOT NULL
);

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
CREATE INDEX notice_by_session ON notice (tenant_id, session_id);
CREATE INDEX notice_by_time ON notice (made_at);
CREATE INDEX notice_unheard ON notice (made_at) WHERE device_id IS NOT NULL;
CREATE FUNCTION forget_session_notices() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM notice WHERE tenant_id = old.tenant_id AND session_id = old.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER session_untold AFTER DELETE ON session
FOR EACH ROW EXECUTE FUNCTION forget_session_notices();
CREATE FUNCTION forget_member_notices() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM notice WHERE tenant_id = old.tenant_id AND user_id = old.user_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER member_untold AFTER DELETE ON member
FOR EACH ROW WHEN (old.user_id IS NOT NULL) EXECUTE FUNCTION forget_member_notices();

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

CREATE TABLE usage_source_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  calls BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, source)
);

CREATE TABLE usage_person_day (
  tenant_id TEXT COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, day, user_id)
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
-- The lock keeps two servers, which delete their rows in different orders, from a deadlock.
CREATE FUNCTION uncount_log_row() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('moonbase request_log_count', 0));
  UPDATE request_log_count SET count = count - 1
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1);
  DELETE FROM request_log_count
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1) AND count = 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER request_log_uncounted AFTER DELETE ON request_log
FOR EACH ROW EXECUTE FUNCTION uncount_log_row();

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
