/**
 * Limits that protect the machine and its other tenants. SECURITY.md states the rule they follow.
 */

/** A connection without traffic for this long is closed; streams have their heartbeat. */
export const IDLE_SECONDS_MAX = 120
/** One message on the socket of a device; a longer one closes it. */
export const SOCKET_MESSAGE_BYTES_MAX = 64 * 1024
/** The whole body of an authenticated request: 25 MB of sound at 14 kB a second. */
export const BODY_MS_MAX = 30 * 60_000
/** The part of the machine's memory that bodies and answers under way may take together. */
export const REQUESTS_MEMORY_SHARE = 1 / 2
/** Bytes of memory for each byte of a body that is parsed and passed on (512 MB took 3.5 GB). */
export const BODY_COST = 7
/**
 * Console requests a minute of one person, studio turns included. It is high because people can
 * issue themselves an unlimited key anyway; 3,000 small requests take a second.
 */
export const PERSON_REQUESTS_MAX = 3_000
export const STUDIO_TURNS_MAX = 300
/** Bodies up to 64 KB must arrive within the idle limit. */
export const SHORT_BODY_BYTES_MAX = 64 * 1024
/** Keys with a budget whose tokens of today are in memory, about 20 MB; others are read again. */
export const BUDGETS_KEPT_MAX = 100_000
/** Days for which calls and tokens are kept by key and channel; reports show seven of them. */
export const USAGE_KEY_DAYS = 30
/** Keys of a tenant, including revoked ones. */
export const KEYS_MAX = 10_000
/** Records are deleted by their age only after the wall clock has not jumped for this long. */
export const CLOCK_SETTLED_MS = 30 * 60_000
/** Personas of a tenant: as many as one import may bring. */
export const PERSONAS_MAX = 1_000
/** Personas, and apps, of one import. */
export const IMPORT_ITEMS_MAX = 1_000
/** An import ends when so many of its documents were not as they should be. */
export const IMPORT_REFUSED_MAX = 1_000
/** One document of an import: the largest as JSON, with the overlaps of its chunks, takes half. */
export const STREAMED_ITEM_BYTES_MAX = 8 * 1024 * 1024
/** Tenants whose own model channel is kept in memory. */
export const PROVIDER_CHANNELS_MAX = 1_000
/** The longest recording that is decoded here: 25 MB of silent FLAC would be 38 hours. */
export const AUDIO_SECONDS_MAX = 15 * 60
/** Processes that parse untrusted bytes: a tenant may have one a core, all tenants twice that. */
export const PARSE_PROCESSES_PER_CORE = 2
/** Memory of one such process, and of all of them together as a part of the machine. */
export const PARSE_MEMORY_BYTES_MAX = 512 * 1024 * 1024
export const PARSE_MEMORY_SHARE_MAX = 1 / 4
/** Processor time of one parse task: 15 minutes of sound on a small machine. */
export const PARSE_CPU_MS_MAX = 60_000
/** Processor time until the next part of a result, which takes milliseconds for honest input. */
export const PARSE_STEP_CPU_MS_MAX = 2_000
/** The same in elapsed time, where the system does not report a process's processor time. */
export const PARSE_STEP_MS_MAX = 20_000
/** A parse process without work is ended after this time. */
export const PARSE_IDLE_MS = 60_000
/** Characters and pages of a file that is read, and non-empty cells of a workbook. */
export const DOCUMENT_CHARS_MAX = 5_000_000
export const DOCUMENT_PAGES_MAX = 5_000
export const DOCUMENT_CELLS_MAX = 50_000
/** What one file may unpack to, and entries of an archive. */
export const DOCUMENT_UNPACKED_BYTES_MAX = 64 * 1024 * 1024
export const DOCUMENT_ENTRIES_MAX = 10_000
/** Elements inside each other. */
export const DOCUMENT_DEPTH_MAX = 256
/** One file, by the clock; it is read in a process apart from those of turns. */
export const DOCUMENT_MS_MAX = 60_000
/** A file that takes longer is read anew in a second process, beside the others. */
export const DOCUMENT_BRIEF_MS = 5_000
/** One page or picture that is drawn, by the clock, and the pixels that a picture may have. */
export const DRAWING_MS_MAX = 20_000
export const PICTURE_PIXELS_MAX = 64_000_000
/** Characters that a model may read on one page. */
export const SCAN_CHARS_MAX = 20_000
/** Of the description of a tool in the list of all MCP servers; the server alone has all of it. */
export const LISTED_DESCRIPTION_CHARS = 200
/** Connections of Wyoming, one of their events with all its parts, and what is heard in one go. */
export const WYOMING_CONNECTIONS_MAX = 32
export const WYOMING_EVENT_BYTES_MAX = 1024 * 1024
export const WYOMING_AUDIO_SECONDS_MAX = 60
/** Open speeches, and open recognitions, of all tenants for each core; upstreams do most of it. */
export const VOICE_REQUESTS_PER_CORE = 32
/** A tenant may hold this many times the slots that are free: alone it gets nearly all. */
export const VOICE_REQUESTS_GREED = 8
/** Programs that speak on this machine, for each core. */
export const SPEECH_PROGRAMS_PER_CORE = 2
/** Threads that encode speech end after this time without work. */
export const SPEECH_THREAD_IDLE_MS = 60_000
/** One recognition, including the wait for its turn where this machine recognises. */
export const ASR_MS_MAX = 120_000
/**
 * What a session may hold verbatim, in UTF-16 units, while no model can fold it: more than one turn
 * of the largest kind, so that one can be folded (machine.test.ts).
 */
export const SESSION_UNITS_MAX = 3_000_000
/** Bytes of turns that one transaction copies or deletes, about 25 ms: others write between two. */
export const TURN_BYTES_AT_ONCE = 1024 * 1024
/** A client that reads nothing of its stream for this long is disconnected. */
export const STREAM_STALL_MS_MAX = 60_000
/** How long the embedding of a question may take; a turn then goes on without passages. */
export const KB_QUERY_MS_MAX = 15_000
/** How long a question waits for its turn at the embedder before that, in a burst of searches. */
export const KB_QUERY_WAIT_MS_MAX = 60_000
/** A client that takes nothing of a list for this long is disconnected: 64 KB at 4 KB a second. */
export const ANSWER_STALL_MS_MAX = 15_000
/** A document as JSON, where a character may take six bytes; its text has its own limit. */
export const KB_BODY_BYTES_MAX = 1024 * 1024
/**
 * Documents of one tenant that are in memory to be embedded. Even one of them keeps the embedder
 * busy when no other tenant does, for its chunks are embedded side by side.
 */
export const KB_UPLOADS_PER_TENANT_MAX = 4
/** Files that arrive at a time; a tenant takes a slot only while it holds fewer than are free. */
export const SOURCE_UPLOADS = { slots: 128, greed: 1 }
/** Sources that are fetched at a time, and those that are read and embedded. */
export const SOURCE_FETCHES = { slots: 16, perKey: 2 }
export const SOURCE_READINGS = { slots: 4, perKey: 2 }
/** The same of sources that took too long to be read among the others. */
export const SOURCE_LONG_READINGS = { slots: 2, perKey: 1 }
/** Failed sources of a tenant that are kept; beyond it the oldest go. */
export const SOURCES_FAILED_MAX = 100
export const SOURCE_URL_CHARS_MAX = 2_000
export const SOURCE_FILE_NAME_CHARS_MAX = 255
/** Only this many characters of a question are searched for. */
export const KB_QUERY_CHARS_MAX = 2_000
/** Items of recent responses that a tenant keeps, and what a minute adds. */
export const RESPONSE_ITEMS_MAX = 5_000
export const RESPONSE_ITEMS_BYTES_MAX = 32 * 1024 * 1024
/** Parts and tool calls of all messages of one request, for each message that it may have. */
export const CHAT_PARTS_PER_MESSAGE = 3
/** Text of the tools that a caller brings, or of the schema of its answer: 1 ms of work. */
export const CLIENT_TOOLS_CHARS_MAX = 512 * 1024
/** Maximum nesting of untrusted JSON; far above any known schema. */
export const JSON_DEPTH_MAX = 64
/** Maximum brackets and commas of untrusted JSON; an import of 1 MB has a quarter of a million. */
export const JSON_SIGNS_MAX = 300_000
/** What a turn may hold in memory even when the memory budget is spent (core/memory-budget.ts). */
export const TURN_BYTES_SURE = 200_000
/** A whole turn, its model calls and tools together. */
export const TURN_MS_MAX = 30 * 60_000
/** Tool calls of a turn: each may be a request or a search, and models ask for a few. */
export const TOOL_CALLS_PER_TURN_MAX = 128
export const TOOLS_AT_ONCE_MAX = 4
/** Idle sessions at MCP servers, in all and of one tenant; a forgotten one is opened again. */
export const MCP_SESSIONS_MAX = 1_000
export const MCP_SESSIONS_PER_TENANT_MAX = 50
/** Turns that call turns of other servers, and so on: beyond it no tools of servers are offered. */
export const MCP_DEPTH_MAX = 3
/** Offers of servers' tools that are kept ready for the next turn: characters of their JSON. */
export const MCP_OFFERS_UNITS_MAX = 8 * 1024 * 1024
/** A tool's name, description and schema as JSON; some descriptions are long. */
export const MCP_DEFINITION_CHARS_MAX = 128 * 1024
/** MCP servers that are listed at the same time: in all, and of one tenant. */
export const MCP_LISTINGS_AT_ONCE_MAX = 32
export const MCP_LISTINGS_PER_TENANT_MAX = 4
export const CALCULATOR_CHARS_MAX = 500
export const CALCULATOR_DEPTH_MAX = 64
/** Results beyond ten to this power, or its inverse, are refused. */
export const CALCULATOR_EXPONENT_MAX = 5_000
/** A clock may be set back this far before existing sessions count as forged. */
export const CLOCK_BACK_SECONDS_MAX = 24 * 60 * 60
/** Challenges of passkeys that wait for their answer. */
export const PASSKEY_CHALLENGES_MAX = 100_000
/** Bodies of requests without a credential. */
export const ANONYMOUS_BODY_BYTES_MAX = 16 * 1024
/** Login codes held at once; beyond it the oldest are dropped. */
export const LOGIN_CODES_MAX = 100_000
/** Wrong guesses of one client address, which could try 150,000 a day at many people's codes. */
export const LOGIN_GUESSES_PER_HOUR_MAX = 100
/**
 * Wrong guesses at the codes of one person in a day, from whatever addresses: one in 20,000 hits.
 * Five codes every ten minutes alone would allow 3,600.
 */
export const LOGIN_GUESSES_PER_PERSON_MAX = 50
/** Verifications, exchanges and OAuth steps of one client address. */
export const LOGIN_STEPS_PER_MINUTE_MAX = 120
/** Sign-ins at MCP servers under way; beyond it the tenant with the most loses its oldest. */
export const MCP_SIGN_INS_OPEN_MAX = 1_000
export const MCP_SIGN_INS_PER_TENANT_MAX = 20
/** Tokens of MCP servers are refreshed this long before they end. */
export const MCP_REFRESH_AHEAD_MS = 60_000
/** How often a server looks whether another one has refreshed a token: for 15 s. */
export const MCP_REFRESH_WAITS_MAX = 60
/** A person may take this long at the provider's own login page. */
export const OAUTH_FLOW_SECONDS_MAX = 10 * 60
export const EXCHANGE_CODES_MAX = 10_000
/** A person may take this long to answer the page that asks for consent. */
export const CONSENT_MS_MAX = 10 * 60_000
export const NEXT_PATH_CHARS_MAX = 2_000
/** Names that tenants supply and that are being resolved: in all, and of one tenant. */
export const RESOLVES_AT_ONCE_MAX = 256
export const RESOLVES_PER_TENANT_MAX = 8
/** Addresses of one family that are tried of a host; name servers may return thousands. */
export const HOST_ADDRESSES_MAX = 8
/** Invitations of a tenant a day, and mails of them to one address from whatever tenants. */
export const INVITATIONS_PER_DAY_MAX = 300
export const INVITATIONS_PER_ADDRESS_MAX = 5
/** Tenants of a person that are shown; limited because any tenant may invite a person. */
export const TENANTS_SHOWN_MAX = 500
/**
 * Tokens of a daily budget that an open turn holds besides its question, until it is counted: most
 * answers are shorter.
 */
export const TURN_TOKENS_HELD = 4_096
/** A turn that was admitted and never begins, because its client has gone, holds them this long. */
export const TURN_BEGINS_MS_MAX = 30_000
/** Windows of one rate limiter, about 20 MB; beyond it those far from their limit are forgiven. */
export const RATE_WINDOWS_MAX = 100_000
/** Messages of one request of Anthropic's or Ollama's API, and characters of all their texts. */
export const DOOR_MESSAGES_MAX = 10_000
export const DOOR_TEXT_CHARS_MAX = 2_000_000
/** Tools of one request of Anthropic's API. */
export const MESSAGE_TOOLS_MAX = 256

/** Work on deliveries at once: on this server, of a tenant, of a webhook. */
export const DELIVERIES_AT_ONCE_MAX = 32
export const DELIVERIES_PER_TENANT_MAX = 8
export const DELIVERIES_PER_WEBHOOK_MAX = 2
export const WEBHOOK_ANSWER_BYTES_MAX = 64 * 1024
export const TRIGGER_BODY_BYTES_MAX = 64 * 1024

/** Lines of the audit that one page of a filtered list looks at: 30 ms of reading. */
export const AUDIT_SCAN_MAX = 20_000

/** For the citations of a document: what one statement reads, and turns that all of them read. */
export const CITATION_SESSIONS_AT_ONCE = 500
export const CITATION_TURNS_AT_ONCE = 5_000
export const CITATION_TURNS_MAX = 100_000
