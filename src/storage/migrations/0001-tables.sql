-- All tables, by subject: tenants and people, credentials, assistants, conversations, knowledge,
-- tools, devices, links for visitors, webhooks and runs, and what is counted and logged. Times
-- named *_at are ISO 8601 UTC text in some tables and epoch milliseconds in those where they are
-- INTEGER; `day` counts days since the epoch.

-- Tenants and people ------------------------------------------------------------------------------

CREATE TABLE tenant (
  id TEXT PRIMARY KEY,
  -- Null: named after its first owner.
  name TEXT,
  -- Tokens a day of all that it does; 0: no limit.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  -- Most documents; null: the limit of the server.
  max_docs INTEGER,
  disabled INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  -- When its last member was deleted; what it holds is removed in steps.
  gone_at INTEGER
) STRICT;
CREATE INDEX tenant_gone ON tenant (gone_at) WHERE gone_at IS NOT NULL;

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  -- The tenant that the person is in now.
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL UNIQUE,
  -- Runs the server.
  operator INTEGER NOT NULL DEFAULT 0,
  -- May no longer sign in.
  disabled INTEGER NOT NULL DEFAULT 0,
  -- In each console session; a session of an earlier one has ended.
  session_epoch INTEGER NOT NULL DEFAULT 0,
  signed_in_at TEXT,
  created_at TEXT NOT NULL
) STRICT;

-- Who belongs to a tenant, and as what. user_id and joined_at are null until the person of the
-- address has signed in.
CREATE TABLE member (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- owner, editor or viewer.
  role TEXT NOT NULL,
  -- Each change of the role raises it, so that what was granted to the earlier role ends with it.
  epoch INTEGER NOT NULL DEFAULT 0,
  -- Tokens a day in the console; 0: no limit.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  user_id TEXT REFERENCES user (id) ON DELETE CASCADE,
  -- The id of the person who invited; null for the first owner.
  invited_by TEXT,
  invited_at TEXT NOT NULL,
  joined_at TEXT
) STRICT;
CREATE UNIQUE INDEX member_by_email ON member (tenant_id, email);
CREATE INDEX member_by_user ON member (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX member_invited ON member (email) WHERE user_id IS NULL;

-- Sessions of the console that have ended before their token expires, or that are in another tenant
-- than the person's own. No token is in it.
CREATE TABLE console_session (
  id TEXT PRIMARY KEY,
  tenant_id TEXT,
  ended INTEGER NOT NULL DEFAULT 0,
  -- When the token expires, in epoch milliseconds.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_expiry ON console_session (expires_at);

-- Keys of WebAuthn, by which a person signs in.
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  -- The id that the authenticator gave it, in base64url.
  credential_id TEXT NOT NULL UNIQUE,
  -- COSE (RFC 9052).
  public_key BLOB NOT NULL,
  -- How often it has signed; 0 at authenticators that do not count.
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- JSON: a list of texts.
  transports TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT
) STRICT;
CREATE INDEX passkey_by_user ON passkey (user_id, created_at);

-- Links that sign a person in once.
CREATE TABLE signin_link (
  -- SHA-256 of its token, in hex.
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  -- Epoch milliseconds.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the console sets for the whole server, by the name of the environment's setting. Every value
-- is sealed, so none is public by accident.
CREATE TABLE system_setting (
  name TEXT PRIMARY KEY,
  value_sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Who changed what, without values. tenant_id is empty for changes to the server itself; ids sort
-- by time.
CREATE TABLE audit (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  person TEXT,
  key_id TEXT,
  action TEXT NOT NULL,
  target TEXT,
  -- The name that the target had then.
  target_name TEXT,
  address TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_ts ON audit (ts);

-- Credentials -------------------------------------------------------------------------------------

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  -- The first and the last signs, by which people tell keys apart.
  prefix TEXT NOT NULL,
  tail TEXT,
  name TEXT NOT NULL DEFAULT '',
  rate_limit INTEGER NOT NULL,
  -- 0: no budget.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  app_id TEXT,
  device_id TEXT,
  -- The key that made it; null: a person.
  made_by TEXT,
  -- The id of the person who made it; null where no person did.
  person_id TEXT,
  -- The day on which webhooks were told that it is spent.
  told_spent INTEGER,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_by_tenant ON api_key (tenant_id, created_at DESC);
CREATE INDEX api_key_by_device ON api_key (device_id) WHERE device_id IS NOT NULL;

-- When each key was last used (epoch milliseconds). Apart from the keys, which are read from memory
-- until one of them is written.
CREATE TABLE key_use (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key_id)
) STRICT, WITHOUT ROWID;

-- A tenant's own model channel. The key is sealed (AES-256-GCM, the tenant authenticated with it);
-- revision changes with every save.
CREATE TABLE provider (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  base_url TEXT NOT NULL,
  key_sealed BLOB NOT NULL,
  failover INTEGER NOT NULL,
  revision TEXT NOT NULL
) STRICT;

-- Assistants --------------------------------------------------------------------------------------

CREATE TABLE persona (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX persona_by_tenant ON persona (tenant_id, created_at DESC);
CREATE UNIQUE INDEX persona_default ON persona (tenant_id) WHERE is_default = 1;

CREATE TABLE app (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- How it shows itself; starters is a JSON array.
  icon TEXT,
  description TEXT,
  greeting TEXT,
  starters TEXT NOT NULL DEFAULT '[]',
  system_prompt TEXT,
  persona_id TEXT,
  model TEXT,
  thinking INTEGER,
  temperature REAL,
  kb_enabled INTEGER NOT NULL DEFAULT 1,
  -- Ids of collections that are seen, a JSON array; null: all documents.
  collections TEXT,
  tools_enabled TEXT,
  -- Whether the model may ask the person, and set reminders; null: as the tenant has set, or no.
  may_ask INTEGER,
  reminders INTEGER,
  -- 'off', 'app' or 'tenant': which facts turns remember and show; null: the tenant's, or off.
  remembers TEXT,
  -- Counts its changes, from 1.
  version INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX app_by_tenant ON app (tenant_id, created_at DESC);

-- What an app was before a change, and who changed it when.
CREATE TABLE app_version (
  app_id TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  at TEXT NOT NULL,
  -- The address of the person, or the key.
  person TEXT,
  key_id TEXT,
  -- JSON: the names of the fields that the change replaced, and all fields as they were.
  changed TEXT NOT NULL,
  app TEXT NOT NULL,
  PRIMARY KEY (app_id, version)
) STRICT;

CREATE TABLE tenant_settings (
  tenant_id TEXT PRIMARY KEY REFERENCES tenant (id) ON DELETE CASCADE,
  model TEXT,
  thinking INTEGER NOT NULL DEFAULT 0,
  temperature REAL,
  -- What a million tokens cost the tenant, for its estimates; null: unknown.
  price_in REAL,
  price_out REAL,
  -- Names of tools for turns without an app, a JSON array.
  mcp_tools TEXT NOT NULL DEFAULT '[]',
  -- As of an app, for apps that leave it open and turns without one.
  collections TEXT,
  may_ask INTEGER,
  reminders INTEGER,
  remembers TEXT,
  -- Whether a model names conversations.
  titles INTEGER NOT NULL DEFAULT 1,
  -- An IANA name, by which prompts tell date and time; null: UTC.
  time_zone TEXT,
  -- zh or en; null: zh.
  language TEXT,
  -- The word scans: pages without text go to a model, to this one or to that of the tenant.
  ocr TEXT,
  ocr_model TEXT
) STRICT;

-- Texts that people write once and send often.
CREATE TABLE prompt (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (tenant_id, name)
) STRICT;

-- A fact about somebody whom assistants talk with.
CREATE TABLE memory (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  -- The app that alone knows the fact; empty: all that share facts in the tenant.
  scope TEXT NOT NULL,
  text TEXT NOT NULL,
  -- The text in lower case: one text is one fact.
  text_key TEXT NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0,
  -- 'tool', 'person' or 'api'.
  source TEXT NOT NULL,
  session_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  used_at TEXT,
  -- Float32 of a unit vector and the model that made it; null: the embedder had failed.
  vector_model TEXT,
  vector BLOB,
  UNIQUE (tenant_id, subject, scope, text_key)
) STRICT;
CREATE INDEX memory_by_subject ON memory (subject);

-- Conversations -----------------------------------------------------------------------------------

-- One row a conversation. The turns up to folded_through are in the memory of a model as summary.
CREATE TABLE session (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  -- A number of its own for the index, because a row's id is not kept by every copy.
  num INTEGER,
  -- Who began it: person, website (a share), device or api (other keys).
  origin TEXT NOT NULL DEFAULT 'api',
  -- What a person called it, and what a model did; both null: its first text is its title.
  title TEXT,
  auto_title TEXT,
  folder TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  -- Versions of one conversation share a family. from_seq is the turn after which a branch begins.
  family TEXT,
  from_seq INTEGER,
  turn_count INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  -- The person who began it in the console; null for every other session.
  user_id TEXT,
  summary TEXT NOT NULL DEFAULT '',
  folded_through INTEGER NOT NULL DEFAULT 0,
  -- Turns are indexed in the background, the newest first: those from index_from on and below
  -- index_below wait.
  index_from INTEGER NOT NULL DEFAULT 0,
  index_below INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX session_by_activity ON session (tenant_id, last_at DESC);
CREATE UNIQUE INDEX session_by_num ON session (num);
CREATE INDEX session_to_index ON session (tenant_id, last_at DESC) WHERE index_below > 0;
CREATE INDEX session_by_person ON session (user_id, tenant_id, last_at DESC)
  WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON session (tenant_id, family, last_at DESC)
  WHERE family IS NOT NULL;
CREATE INDEX session_marked ON session (tenant_id, last_at) WHERE pinned = 1;
CREATE TRIGGER session_numbered AFTER INSERT ON session WHEN new.num IS NULL BEGIN
  UPDATE session SET num = (SELECT coalesce(max(num), 0) + 1 FROM session)
  WHERE tenant_id = new.tenant_id AND id = new.id;
END;

-- A turn is one exchange, so that it is stored whole or not at all. In rows of their own turns take
-- half the disk that they take inside their key, where a long text fills pages alone.
CREATE TABLE turn (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  -- The app that answered.
  app_id TEXT,
  user_text TEXT NOT NULL,
  reply TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- JSON: how the turn was answered; null: unknown.
  details TEXT,
  PRIMARY KEY (tenant_id, session_id, seq),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- Which turn holds which term, as hashes: what is left of a deleted turn before SQLite merges its
-- entries tells nothing. The row id is num * 16777216 + seq; seq 0 is the title.
CREATE VIRTUAL TABLE turn_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  detail = none,
  tokenize = 'ascii'
);
CREATE TRIGGER turn_forgotten AFTER DELETE ON turn BEGIN
  DELETE FROM turn_word WHERE rowid = old.seq + (
    SELECT num * 16777216 FROM session WHERE tenant_id = old.tenant_id AND id = old.session_id);
END;
CREATE TRIGGER session_forgotten AFTER DELETE ON session BEGIN
  DELETE FROM turn_word WHERE rowid BETWEEN old.num * 16777216 AND old.num * 16777216 + 16777215;
END;

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
  -- Ids of the files of the question, and its pictures, as JSON.
  files TEXT NOT NULL DEFAULT '[]',
  images TEXT NOT NULL DEFAULT '[]',
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

-- The files that the turns of a session have named.
CREATE TABLE session_file (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, file_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- Pictures of people's talks, as they came.
CREATE TABLE picture (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  -- The turn that goes on without a reader, with which it came.
  turn_id TEXT,
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX picture_by_person ON picture (tenant_id, user_id);

-- The talks that have a picture: a branch has those of its turns.
CREATE TABLE session_picture (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  picture_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, picture_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id)
    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX session_picture_by_picture ON session_picture (picture_id);

-- What somebody thought of an answer: rating is 1 or -1, giver names a person, a key or 'visitor'.
CREATE TABLE feedback (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  giver TEXT NOT NULL,
  app_id TEXT,
  rating INTEGER NOT NULL,
  reason TEXT,
  text TEXT,
  -- Whether the person of a private talk shows the text to others.
  shared INTEGER NOT NULL DEFAULT 0,
  ts INTEGER NOT NULL,
  UNIQUE (tenant_id, session_id, seq, giver),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX feedback_by_id ON feedback (tenant_id, id DESC);

-- Items of recent responses: a client may send the id of one in place of the item. used_at is in
-- epoch milliseconds.
CREATE TABLE response_item (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  item TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX response_item_by_use ON response_item (tenant_id, used_at, id, bytes);
CREATE INDEX response_item_by_age ON response_item (used_at);

-- Knowledge ---------------------------------------------------------------------------------------

-- Groups of documents. An assistant may be bound to some of them.
CREATE TABLE kb_collection (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  created_at TEXT NOT NULL,
  -- 1: deleted. The name stays for the export of apps that still list it.
  gone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX kb_collection_by_name ON kb_collection (tenant_id, name) WHERE gone = 0;

-- Files and web pages that documents are made of.
CREATE TABLE kb_source (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  -- The id of a collection, or the word none.
  collection_id TEXT NOT NULL DEFAULT 'none',
  title TEXT NOT NULL,
  -- The title was given; that of the page does not replace it.
  is_named INTEGER NOT NULL,
  file_name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  -- The name of a file where it comes from, by which a new version of it replaces the text; and the
  -- SHA-256 of its bytes.
  origin TEXT,
  sha256 TEXT,
  -- The source whose documents this one, a version of it, replaces once it has been read.
  replaces TEXT,
  url TEXT,
  refresh TEXT,
  state TEXT NOT NULL,
  error_class TEXT,
  error TEXT,
  pages INTEGER,
  -- Of them: whose text is known, that a model has read from their pictures, and that none will.
  pages_done INTEGER,
  ocr_pages INTEGER NOT NULL DEFAULT 0,
  pages_unread INTEGER NOT NULL DEFAULT 0,
  -- Whose tokens a model's reading costs: a key, the app of a key, a person.
  key_id TEXT,
  app_id TEXT,
  user_id TEXT,
  -- Until when (epoch milliseconds) a file that has failed can be read again; null: it is gone.
  spooled_until INTEGER,
  created_at TEXT NOT NULL,
  checked_at TEXT,
  changed_at TEXT,
  -- When it is to be worked on (epoch milliseconds); null: not before somebody asks.
  due_at INTEGER,
  -- Failures of the embedder in a row, and checks in a row that found no page.
  attempts INTEGER NOT NULL DEFAULT 0,
  misses INTEGER NOT NULL DEFAULT 0,
  -- Of the text that its documents have.
  text_hash TEXT,
  etag TEXT,
  last_modified TEXT
) STRICT;
CREATE INDEX kb_source_by_tenant ON kb_source (tenant_id, created_at DESC);
CREATE INDEX kb_source_by_due ON kb_source (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX kb_source_by_origin ON kb_source (tenant_id, origin) WHERE origin IS NOT NULL;
CREATE INDEX kb_source_by_replaced ON kb_source (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX kb_source_by_spooled ON kb_source (spooled_until) WHERE spooled_until IS NOT NULL;

-- What a model has read of the scanned pages of a file that is not ready yet.
CREATE TABLE scan_page (
  source_id TEXT NOT NULL REFERENCES kb_source (id) ON DELETE CASCADE,
  page INTEGER NOT NULL,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- SHA-256 of the file that had the page: a web page may be another the next time.
  file_hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (source_id, page)
) STRICT, WITHOUT ROWID;
CREATE INDEX scan_page_by_tenant ON scan_page (tenant_id);

-- Files that people talk about: sources of the kind "chat", which no search of the knowledge base
-- finds. Their documents have the stage "file", and the indexes hold them apart by their source.
CREATE TABLE chat_file (
  id TEXT PRIMARY KEY REFERENCES kb_source (id) ON DELETE CASCADE,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- The app whose key uploaded it; null: the tenant's.
  app_id TEXT,
  -- The person who uploaded it in the console.
  user_id TEXT,
  name TEXT NOT NULL,
  -- SHA-256 of its bytes, in hex.
  hash TEXT NOT NULL,
  -- Epoch milliseconds; each use moves it.
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_file_by_tenant ON chat_file (tenant_id, expires_at);
CREATE INDEX chat_file_by_expiry ON chat_file (expires_at);

CREATE TABLE kb_doc (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- The id of a collection, or the word none.
  collection_id TEXT NOT NULL DEFAULT 'none',
  title TEXT NOT NULL,
  char_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  -- The documents of a source are its parts, numbered from 1; typed ones have none of the three.
  source_id TEXT,
  part INTEGER,
  parts INTEGER,
  -- live; or new: not all parts are stored yet; or old: to be removed; or file: of a conversation.
  -- Searches of the knowledge base see live ones alone.
  stage TEXT NOT NULL DEFAULT 'live',
  -- The model whose vectors the chunks have; another one than the server's: to be embedded anew.
  embed_model TEXT NOT NULL,
  embed_attempts INTEGER NOT NULL DEFAULT 0,
  -- Not tried again before (epoch milliseconds).
  embed_after INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX kb_doc_by_tenant ON kb_doc (tenant_id, created_at DESC);
CREATE INDEX kb_doc_by_model ON kb_doc (embed_model);
CREATE INDEX kb_doc_by_source ON kb_doc (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX kb_doc_by_stage ON kb_doc (stage) WHERE stage <> 'live';
-- Each search asks how many passages the tenant has.
CREATE INDEX kb_doc_by_size ON kb_doc (tenant_id, stage, chunk_count);
CREATE INDEX kb_doc_by_collection ON kb_doc (tenant_id, stage, collection_id, chunk_count);

-- The key of a chunk in both indexes is doc_num * 1024 + seq.
CREATE TABLE kb_chunk (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  page INTEGER,
  heading TEXT,
  -- A model has read its page from a picture.
  ocr INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (doc_num, seq)
) STRICT, WITHOUT ROWID;

-- Which chunk holds which term, and no text.
CREATE VIRTUAL TABLE kb_word USING fts5 (
  terms,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '-_./+#:@''&'"
);

CREATE TABLE kb_vector (
  -- doc_num * 1024 + seq, as in kb_word.
  key INTEGER PRIMARY KEY,
  -- Tenant and model; only vectors of one space are compared.
  space TEXT NOT NULL,
  -- float32 of unit length, little-endian.
  vector BLOB NOT NULL
) STRICT;

-- A bit for each dimension of the chunks of a document, in order, which a search reads first.
CREATE TABLE kb_vector_code (
  doc_num INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  codes BLOB NOT NULL
) STRICT;
CREATE INDEX kb_vector_code_by_space ON kb_vector_code (space);

-- How many searches of turns showed passages of a document, by day.
CREATE TABLE kb_citation (
  doc_num INTEGER NOT NULL REFERENCES kb_doc (num) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (doc_num, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX kb_citation_by_day ON kb_citation (day);

-- Tools -------------------------------------------------------------------------------------------

-- Servers whose tools a tenant's assistants may use. A header is sealed as a provider's key is;
-- revision changes with each save that makes a listing under way worthless.
CREATE TABLE mcp_server (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  -- How it is told who asks: none, header, oauth or client_credentials.
  auth TEXT NOT NULL DEFAULT 'none',
  header_name TEXT,
  header_sealed BLOB,
  client_id TEXT,
  client_secret_sealed BLOB,
  -- Separated by spaces; null: what the server asks for.
  scopes TEXT,
  enabled INTEGER NOT NULL,
  revision TEXT NOT NULL,
  -- never, ready or failed.
  state TEXT NOT NULL DEFAULT 'never',
  error_class TEXT,
  protocol TEXT,
  latency_ms INTEGER,
  checked_at TEXT,
  -- Epoch milliseconds: until when the listing is believed, and when it is tried again.
  fresh_until INTEGER,
  retry_at INTEGER,
  -- In a row.
  failures INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX mcp_server_by_name ON mcp_server (tenant_id, name);
CREATE INDEX mcp_server_by_retry ON mcp_server (retry_at) WHERE retry_at IS NOT NULL;

-- Tokens for a server, which all people of the tenant share.
CREATE TABLE mcp_grant (
  server_id TEXT PRIMARY KEY REFERENCES mcp_server (id) ON DELETE CASCADE,
  -- JSON of the tokens, the client and the issuer; sealed as the header of a server is.
  sealed BLOB NOT NULL,
  -- Changes with each refresh.
  version TEXT NOT NULL,
  -- The address of the person who signed in; null for the server's own credentials.
  signed_in_by TEXT,
  signed_in_at TEXT NOT NULL
) STRICT;

-- What a server listed last, in its order.
CREATE TABLE mcp_tool (
  server_id TEXT NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  title TEXT,
  description TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  destructive INTEGER NOT NULL,
  -- JSON as the model is offered it; empty where reason says why it cannot be.
  schema TEXT NOT NULL,
  schema_chars INTEGER NOT NULL,
  param_headers TEXT NOT NULL,
  reason TEXT,
  -- Of the definition as it is, and as it was when somebody approved it.
  hash TEXT NOT NULL,
  approved_hash TEXT,
  -- What the tool said of itself then, and the arguments that it took, to show beside those of now.
  approved_description TEXT,
  approved_schema TEXT,
  approved_at TEXT,
  -- The address of the person, or the key.
  approved_by TEXT,
  -- Whether a person is asked before each call; how the last call ended.
  ask INTEGER NOT NULL DEFAULT 0,
  called_at TEXT,
  called_ok INTEGER,
  PRIMARY KEY (server_id, name)
) STRICT, WITHOUT ROWID;

-- What a running turn asks its person. state is open, answered (and not yet taken by the turn),
-- taken or gone.
CREATE TABLE open_ask (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- Who may answer: the person, or the key and all general keys.
  user_id TEXT,
  key_id TEXT,
  state TEXT NOT NULL DEFAULT 'open',
  -- JSON: what an answer is checked against, and the answer; null once the turn has taken it.
  question TEXT,
  answer TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX open_ask_by_end ON open_ask (expires_at);

-- Tools that ask no more in a session, as long as they are what they were.
CREATE TABLE ask_grant (
  tenant_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  server_id TEXT NOT NULL REFERENCES mcp_server (id) ON DELETE CASCADE,
  tool TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (tenant_id, session_id, server_id, tool),
  FOREIGN KEY (tenant_id, session_id) REFERENCES session (tenant_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX ask_grant_by_server ON ask_grant (server_id);

-- Devices -----------------------------------------------------------------------------------------

-- code_hash outlives the code's use, so that a second try can be told from an unknown code;
-- code_expires_at is null once the code was used.
CREATE TABLE device (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  app_id TEXT,
  hw_model TEXT,
  firmware TEXT,
  -- The board that it was paired with by its own firmware. Both together name it at its later
  -- starts; the client's id, which nobody but the board knows, is kept as a hash.
  mac TEXT,
  client_hash TEXT,
  code_hash TEXT NOT NULL UNIQUE,
  code_expires_at TEXT,
  -- The key that the current code was exchanged for; null while the code waits.
  key_id TEXT,
  -- The key that issued the code; null: a person.
  made_by TEXT,
  activated_at TEXT,
  last_seen_at TEXT,
  -- Whether webhooks were told that it is there.
  told_online INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX device_by_tenant ON device (tenant_id, created_at DESC);
CREATE INDEX device_by_board ON device (mac, client_hash) WHERE mac IS NOT NULL;
CREATE INDEX device_by_presence ON device (told_online, last_seen_at);

-- Links for visitors ------------------------------------------------------------------------------

-- Links by which visitors talk to an app. origins is a JSON array; expires_at null: never.
CREATE TABLE share (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL REFERENCES app (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  -- The token, for those who may see it; null: made without an encryption key, or before.
  token_sealed BLOB,
  paused INTEGER NOT NULL DEFAULT 0,
  -- JSON: colour, place, language and title; missing ones have their defaults.
  look TEXT NOT NULL DEFAULT '{}',
  origins TEXT NOT NULL,
  daily_turns INTEGER NOT NULL,
  -- Tokens that visitors may use a day, input and output together; 0: no budget.
  daily_tokens INTEGER NOT NULL DEFAULT 0,
  -- The key that made it; null: a person.
  made_by TEXT,
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX share_by_app ON share (app_id, created_at DESC);

-- Turns of visitors a day.
CREATE TABLE share_day (
  share_id TEXT NOT NULL REFERENCES share (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (share_id, day)
) STRICT, WITHOUT ROWID;

-- Webhooks and runs -------------------------------------------------------------------------------

-- Addresses that are told of changes. events is a JSON array. The former secret signs until
-- former_until, too. failing_since: the first failure since the last success. Epoch milliseconds.
CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  format TEXT NOT NULL,
  include_reply INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  secret_sealed BLOB NOT NULL,
  secret_tail TEXT NOT NULL,
  former_sealed BLOB,
  former_until INTEGER,
  last_status INTEGER,
  last_at TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  created_at TEXT NOT NULL,
  -- Who has replies sent there, and since when; null: a key, or nobody.
  user_id TEXT,
  reply_since INTEGER
) STRICT;
CREATE INDEX webhook_by_tenant ON webhook (tenant_id, id);

-- What is sent, a row for each webhook. state: waiting, done or failed. payload is null once it
-- has ended. taken_until: a server is sending it.
CREATE TABLE webhook_delivery (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  payload TEXT,
  at TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  taken_until INTEGER
) STRICT;
CREATE INDEX webhook_delivery_by_webhook ON webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_by_tenant ON webhook_delivery (tenant_id, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, due_at, id)
  WHERE state = 'waiting';
CREATE INDEX webhook_delivery_taken ON webhook_delivery (taken_until) WHERE taken_until IS NOT NULL;

-- Addresses that begin a run. token_hash is the SHA-256 of the token. webhook_ids is a JSON array.
-- key_id or user_id saved it last, at saved_at, and owns its runs.
CREATE TABLE run_trigger (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  app_id TEXT,
  text TEXT NOT NULL,
  session TEXT NOT NULL,
  webhook_ids TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  last_at TEXT,
  count INTEGER NOT NULL DEFAULT 0,
  key_id TEXT,
  user_id TEXT,
  created_at TEXT NOT NULL,
  saved_at INTEGER
) STRICT;
CREATE INDEX run_trigger_by_tenant ON run_trigger (tenant_id, id);

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
  -- The key or the person that saved it last, at saved_at, and owns its runs.
  key_id TEXT,
  user_id TEXT,
  created_at TEXT NOT NULL,
  saved_at INTEGER,
  -- The key or the person that made it.
  created_by TEXT
) STRICT;
CREATE INDEX schedule_by_tenant ON schedule (tenant_id, id);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  schedule_id TEXT,
  trigger_id TEXT,
  name TEXT,
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
  -- The size of what is asked, as JSON in UTF-8.
  ask_bytes INTEGER NOT NULL DEFAULT 0,
  -- When that was saved which names its webhooks.
  named_at INTEGER,
  UNIQUE (schedule_id, fire_at)
) STRICT;
CREATE INDEX run_by_tenant ON run (tenant_id, id);
CREATE INDEX run_by_schedule ON run (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_by_session ON run (schedule_id, session_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX run_due ON run (due_at) WHERE status = 'waiting';
CREATE INDEX run_waiting ON run (tenant_id) WHERE status = 'waiting';
CREATE INDEX run_running ON run (tenant_id, lease_until) WHERE status = 'running';
CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL;

-- What a run asks, as JSON, until it is over. It may be 48 MB, and has a table of its own because
-- whatever changes a row of SQLite writes all of it.
CREATE TABLE run_ask (
  run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  ask TEXT NOT NULL
) STRICT;

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
CREATE INDEX notice_by_session ON notice (tenant_id, session_id);
CREATE INDEX notice_by_time ON notice (made_at);
CREATE INDEX notice_unheard ON notice (made_at) WHERE device_id IS NOT NULL;
-- They say what the session says, and go with it.
CREATE TRIGGER session_untold AFTER DELETE ON session BEGIN
  DELETE FROM notice WHERE tenant_id = old.tenant_id AND session_id = old.id;
END;
CREATE TRIGGER member_untold AFTER DELETE ON member WHEN old.user_id IS NOT NULL BEGIN
  DELETE FROM notice WHERE tenant_id = old.tenant_id AND user_id = old.user_id;
END;

-- What is counted and logged ----------------------------------------------------------------------

-- Calls and tokens a day and app; the sums of all time are made from these rows. app_id '' is a key
-- without an app.
CREATE TABLE usage_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  app_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, day, app_id)
) STRICT, WITHOUT ROWID;

-- The same by key and channel. key_id '' is the playground, channel '' the calls, which have none.
CREATE TABLE usage_key_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, key_id, app_id, channel)
) STRICT, WITHOUT ROWID;

-- Turns and tokens a day by what began them: console, share, device, api or run.
CREATE TABLE usage_source_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  source TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, source)
) STRICT, WITHOUT ROWID;

-- What people use in the console, beside the sums by key and app.
CREATE TABLE usage_person_day (
  tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
  -- Days since the epoch, UTC.
  day INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, user_id)
) STRICT, WITHOUT ROWID;

-- The last batch of usage sums that each process has stored, so that one whose answer was lost is
-- not added twice. written_at is epoch milliseconds.
CREATE TABLE usage_writer (
  id TEXT PRIMARY KEY NOT NULL,
  batch INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Metadata only: there is no column that could hold what was said. Rows of a tenant lie together in
-- the order of time, which is how they are read, summed up and pruned.
CREATE TABLE request_log (
  tenant_id TEXT NOT NULL,
  ts INTEGER NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT,
  device_id TEXT,
  key_id TEXT,
  endpoint TEXT NOT NULL,
  status INTEGER NOT NULL,
  latency_ms INTEGER,
  -- Of streams: when the first word came and when the last.
  first_ms INTEGER,
  total_ms INTEGER,
  session_id TEXT,
  text_chars INTEGER,
  error_class TEXT,
  channel TEXT,
  PRIMARY KEY (tenant_id, ts, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_log_by_status ON request_log (tenant_id, status, ts, id);
CREATE INDEX request_log_by_session ON request_log (tenant_id, session_id, ts, id)
  WHERE session_id IS NOT NULL;

-- How many rows of the request log there are, so that its summary need not read them all. Whoever
-- writes rows counts them, many at once; each deleted one takes itself away.
CREATE TABLE request_log_count (
  tenant_id TEXT NOT NULL,
  -- -1 for all days together.
  day INTEGER NOT NULL,
  status INTEGER NOT NULL,
  -- -1 for rows without a measured latency.
  latency_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, day, status, latency_ms)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER request_log_uncounted AFTER DELETE ON request_log BEGIN
  UPDATE request_log_count SET count = count - 1
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1);
  DELETE FROM request_log_count
  WHERE tenant_id = old.tenant_id AND day IN (-1, old.ts / 86400000) AND status = old.status
    AND latency_ms = coalesce(old.latency_ms, -1) AND count = 0;
END;
