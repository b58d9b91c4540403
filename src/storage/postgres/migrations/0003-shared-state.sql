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
