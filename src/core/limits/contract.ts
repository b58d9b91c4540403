/** Limits that clients rely on: a change of one is a change of the API. */
export const SESSION_ID_CHARS_MAX = 200
export const AGENT_TEXT_CHARS_MAX = 32_000
/** Words that an answer can be asked to have. */
export const ANSWER_WORDS_MIN = 10
export const ANSWER_WORDS_MAX = 5_000
export const IMAGES_MAX = 8
export const IMAGE_BYTES_MAX = 10 * 1024 * 1024
export const BODY_BYTES_MAX = 1024 * 1024
export const AGENT_BODY_BYTES_MAX = 48 * 1024 * 1024
export const RATE_LIMIT_DEFAULT = 60
export const RATE_LIMIT_MAX = 100_000
/** The largest budget of a key, in tokens a UTC day. */
export const DAILY_TOKENS_MAX = 10 ** 12
/** The highest price of a million tokens. */
export const PRICE_MAX = 1_000_000
export const KEY_NAME_CHARS_MAX = 60
export const RATE_WINDOW_MS = 60_000
export const SESSIONS_LIMIT_DEFAULT = 100
export const SESSIONS_LIMIT_MAX = 500
export const TRANSCRIPT_LIMIT_DEFAULT = 50
export const TRANSCRIPT_LIMIT_MAX = 100
export const CONVERSATIONS_LIMIT_DEFAULT = 50
export const CONVERSATIONS_LIMIT_MAX = 100
export const CONVERSATION_TITLE_CHARS_MAX = 60
/** Titles that a model gives. */
export const TITLE_CHARS_MAX = 40
export const TITLE_TOKENS_MAX = 30
export const TITLE_MS_MAX = 10_000
export const CONVERSATION_QUERY_CHARS_MAX = 200
export const LOGS_LIMIT_DEFAULT = 100
export const LOGS_LIMIT_MAX = 500
export const LOG_RETENTION_DAYS = 7
export const LOG_FILTER_CHARS_MAX = 200
export const AUDIT_LIMIT_DEFAULT = 50
export const AUDIT_LIMIT_MAX = 200
/** Links by which visitors talk to an app, and what a visitor may do. */
export const SHARES_MAX = 20
export const SHARE_NAME_CHARS_MAX = 60
export const SHARE_ORIGINS_MAX = 20
export const SHARE_TURNS_DEFAULT = 100
export const SHARE_TURNS_MAX = 1_000_000
export const SHARE_TURNS_PER_MINUTE_MAX = 10
export const SHARE_TEXT_CHARS_MAX = 4_000
export const USAGE_DAYS = 7
/** Members of a tenant, including those who have not accepted their invitation. */
export const MEMBERS_MAX = 100
export const TENANT_NAME_CHARS_MAX = 60
export const APPS_MAX = 20
export const APP_NAME_CHARS_MAX = 60
export const SYSTEM_PROMPT_CHARS_MAX = 8_000
export const MODEL_CHARS_MAX = 200
export const TOOLS_ENABLED_MAX = 16
export const TOOL_NAME_CHARS_MAX = 64
export const PERSONA_NAME_CHARS_MAX = 200
export const PERSONA_PROMPT_CHARS_MAX = 8_000
export const TEMPERATURE_MAX = 2
/** Longer ids in requests are not looked up: ids of the product are shorter. */
export const REFERENCE_CHARS_MAX = 200
export const PROVIDER_URL_CHARS_MAX = 300
export const PROVIDER_KEY_CHARS_MAX = 500
/** A setting that the console sets for the whole server. */
export const SYSTEM_SETTING_CHARS_MAX = 4_000
export const DEVICES_MAX = 100
export const DEVICE_NAME_CHARS_MAX = 60
/** A device heard of this recently is shown as online. */
export const DEVICE_ONLINE_MS_MAX = 5 * 60_000
export const DEVICE_LABEL_CHARS_MAX = 200
export const ACTIVATION_CODE_CHARS = 16
export const ACTIVATION_CODE_TTL_MS = 15 * 60_000
/** Activations a minute from one address. */
export const ACTIVATIONS_MAX = 10
/** Wrong digits of a tenant in an hour, and boards that wait with some. */
export const WRONG_PAIRINGS_MAX = 10
export const WAITING_BOARDS_MAX = 1_000
/** An upload to recognition, and the decoded `audio_b64` of the voice loop. */
export const AUDIO_BYTES_MAX = 25 * 1024 * 1024
export const ASR_BODY_BYTES_MAX = AUDIO_BYTES_MAX
export const VOICE_BODY_BYTES_MAX = 36 * 1024 * 1024
export const TTS_TEXT_CHARS_MAX = 10_000
export const VOICE_ID_CHARS_MAX = 200
/** Chat completions and responses. */
export const CHAT_MESSAGES_MAX = 1_000
/** Earlier turns that a question of a temporary talk brings along. */
export const TEMPORARY_TURNS_MAX = 200
export const CHAT_TEXT_CHARS_MAX = 400_000
export const CLIENT_TOOLS_MAX = 128
export const STOP_SEQUENCES_MAX = 4
export const MODEL_CALLS_PER_TURN_MAX = 8
export const MEMORY_TURNS_MAX = 20
/** Turns of one person that go on without a reader, and how long they can be read after them. */
export const DETACHED_TURNS_MAX = 4
export const DETACHED_ENDED_MS = 10 * 60_000
export const DETACHED_INTERRUPTED_MS = 24 * 60 * 60_000
export const MEMORY_CHARS_MAX = 24_000
/** Retrieved passages below this cosine similarity are not shown to the model. */
export const KB_SCORE_MIN = 0.45
/** Texts of one request for vectors, and the characters of all of them together. */
export const EMBEDDING_TEXTS_MAX = 256
export const EMBEDDING_CHARS_MAX = 400_000
/** Documents of a tenant, unless MB_KB_MAX_DOCS says another number. */
export const KB_DOCS_MAX = 50
export const KB_TITLE_CHARS_MAX = 200
export const KB_HEADING_CHARS_MAX = 200
/** Sources of a tenant that are queued, being read or being embedded. */
export const SOURCES_WAITING_MAX = 50
/** Pages of a tenant that are refreshed by schedule. */
export const SOURCES_REFRESHED_MAX = 20
/** Leaves room for the number of the part in the title of a document. */
export const SOURCE_TITLE_CHARS_MAX = 180
export const SOURCE_ORIGIN_CHARS_MAX = 400
export const SOURCE_PAGE_BYTES_MAX = 10 * 1024 * 1024
export const SOURCE_PAGE_MS_MAX = 15_000
export const SOURCE_REDIRECTS_MAX = 5
/** A server asks one host and port for a page this often at most. */
export const SOURCE_HOST_MS_MIN = 1_000
/** Checks in a row that find no page, after which the page is gone. */
export const SOURCE_MISSES_MAX = 3
export const KB_HITS_MAX = 5
/** The same by MCP, where a call says how many it wants. */
export const MCP_HITS_MAX = 10
export const MCP_QUERY_CHARS_MAX = 2_000
export const MCP_CHUNKS_MAX = 20
/** MCP servers of a tenant, and what is stored and offered of them. */
export const MCP_SERVERS_MAX = 10
export const MCP_SERVER_NAME = /^(?!.*__)[a-z0-9_]{1,20}$/
export const MCP_URL_CHARS_MAX = 2_000
export const MCP_TOOLS_KEPT_MAX = 128
export const MCP_TOOLS_OFFERED_MAX = 32
export const MCP_SCHEMAS_CHARS_MAX = 60_000
export const MCP_SCHEMA_BYTES_MAX = 16 * 1024
export const MCP_SCHEMA_DEPTH_MAX = 8
export const MCP_DESCRIPTION_CHARS_MAX = 2_000
export const MCP_TOOL_NAME_CHARS_MAX = 200
export const MCP_TITLE_CHARS_MAX = 200
export const MCP_HEADER_NAME_CHARS_MAX = 64
export const MCP_HEADER_VALUE_CHARS_MAX = 2_000
export const MCP_CLIENT_ID_CHARS_MAX = 2_000
export const MCP_CLIENT_SECRET_CHARS_MAX = 2_000
export const MCP_SCOPES_CHARS_MAX = 2_000
/** A listing, with all its pages, or the answer to a call. */
export const MCP_READ_BYTES_MAX = 1024 * 1024
export const MCP_PAGES_MAX = 20
export const MCP_LIST_MS_MAX = 10_000
/** A listing is believed this long, or as long as the server says, up to the second. */
export const MCP_LIST_TTL_MS = 5 * 60_000
export const MCP_LIST_TTL_MS_MAX = 60 * 60_000
export const KB_PREVIEW_CHARS_MAX = 200
export const KB_CHUNKS_SHOWN_MAX = 50
/** A console login holds this long. */
export const SESSION_SECONDS_MAX = 7 * 24 * 60 * 60
export const EMAIL_CHARS_MAX = 254
export const LOGIN_CODE_DIGITS = 6
export const LOGIN_CODE_SECONDS_MAX = 5 * 60
export const LOGIN_CODE_WRONG_ATTEMPTS_MAX = 5
export const LOGIN_CODES_PER_ADDRESS_MAX = 5
export const LOGIN_CODES_WINDOW_MS = 10 * 60 * 1000
export const LOGIN_STARTS_PER_MINUTE_MAX = 20
export const PASSKEYS_MAX = 20
export const BACKUP_PASSPHRASE_CHARS_MIN = 12
export const PASSKEY_NAME_CHARS_MAX = 60
export const PASSKEY_TRIES_PER_MINUTE_MAX = 20
export const PASSKEY_CHALLENGE_SECONDS_MAX = 5 * 60
/** Adding a passkey needs a sign-in that is no older. */
export const FRESH_SIGN_IN_SECONDS_MAX = 10 * 60
export const SIGN_IN_LINK_SECONDS_MAX = 10 * 60
export const EXCHANGE_CODE_SECONDS_MAX = 5 * 60

/** Stands for an image where only text is kept, such as in history. */
export const IMAGE_PLACEHOLDER = '[图片]'
/** Files of one turn, of one session, and living ones of a tenant. */
export const TURN_FILES_MAX = 5
export const SESSION_FILES_MAX = 20
export const CHAT_FILES_MAX = 200
/** Pictures that are kept with a talk. */
export const PICTURE_BYTES_MAX = 5 * 1024 * 1024
export const CHAT_FILE_NAME_CHARS_MAX = 200
/** Characters of the files of a turn that a model reads whole; of longer ones it gets passages. */
export const FILES_WHOLE_CHARS_MAX = 60_000
export const FILE_HITS_MAX = 12
export const FILE_PASSAGES_DEFAULT = 10
export const FILE_PASSAGES_MAX = 20
/** How long a turn waits for a file to be read. */
export const FILE_WAIT_MS_MAX = 60_000
/** Rows of a list whose route has no limits of its own. */
export const LIST_LIMIT_DEFAULT = 50
export const LIST_LIMIT_MAX = 200
/** Prompts of a tenant, and the characters of one. */
export const PROMPTS_MAX = 200
export const PROMPT_TITLE_CHARS_MAX = 100
export const PROMPT_TEXT_CHARS_MAX = 8_000
/** Values for the variables of prompts that one request may bring. */
export const VARIABLES_MAX = 32
export const VARIABLE_CHARS_MAX = 2_000
export const FOLDER_CHARS_MAX = 60
/** Collections of a tenant, and what an assistant's list may name of them. */
export const COLLECTIONS_MAX = 50
export const COLLECTION_NAME_CHARS_MAX = 60
export const COLLECTION_DESCRIPTION_CHARS_MAX = 500
export const COLLECTIONS_LISTED_MAX = 16
export const TIME_ZONE_CHARS_MAX = 64
/** How an assistant shows itself. */
export const APP_DESCRIPTION_CHARS_MAX = 200
export const APP_GREETING_CHARS_MAX = 500
export const APP_STARTERS_MAX = 6
export const APP_STARTER_CHARS_MAX = 120
/** Kept versions of an app. */
export const APP_VERSIONS_MAX = 30
export const SHARE_TITLE_CHARS_MAX = 60
/** What somebody adds to a thumb. */
export const FEEDBACK_TEXT_CHARS_MAX = 500
export const FEEDBACK_PER_MINUTE_MAX = 10

/** Schedules of a tenant, without reminders. */
export const SCHEDULES_MAX = 100
/** Reminders of a subject that are still to come. */
export const REMINDERS_MAX = 20
/** The same of a tenant, whose keys may name any subject. */
export const REMINDERS_PER_TENANT_MAX = 1_000
export const SCHEDULE_NAME_CHARS_MAX = 60
export const SCHEDULE_TEXT_CHARS_MAX = 8_000
/** Runs of a tenant that wait. */
export const RUNS_WAITING_MAX = 1_000
/** What all of them ask together: five of the largest, as JSON. */
export const RUNS_WAITING_BYTES_MAX = 5 * AGENT_BODY_BYTES_MAX
export const RUN_WEBHOOKS_MAX = 5
export const RUN_MODEL_CALLS_MAX = 40
export const RUN_MODEL_CALLS_DEFAULT = 8
export const RUN_AHEAD_DAYS_MAX = 365
export const RUN_RETENTION_DAYS = 90
/** Notices that one heartbeat is given. */
export const NOTICES_AT_ONCE_MAX = 5
/** Sentences that wait to be said by one device. */
export const SENTENCES_WAITING_MAX = 20
export const SENTENCE_CHARS_MAX = 500
/** Characters of a remembered fact. */
export const FACT_CHARS_MAX = 300
/** Facts of a subject in one app, or of those that apps share. */
export const SUBJECT_MEMORIES_MAX = 100
/** Facts of a tenant. */
export const MEMORIES_MAX = 10_000
/** Facts that a turn shows to the model, and their characters together. */
export const MEMORIES_SHOWN_MAX = 20
export const MEMORIES_SHOWN_CHARS_MAX = 2_000
/** Facts that a turn may write and forget. */
export const MEMORY_WRITES_MAX = 5
/** Facts that one recall gives. */
export const MEMORIES_RECALLED_MAX = 10
/** What webhooks can be told of. */
export const WEBHOOK_EVENTS = [
  'run.done',
  'run.failed',
  'schedule.paused',
  'budget.spent',
  'source.ready',
  'source.failed',
  'source.gone',
  'device.offline',
  'device.online',
  'mcp.failed',
  'mcp.sign_in_needed',
  'mcp.tools_changed',
  'feedback.down',
] as const
/** Addresses that are told of changes. */
export const WEBHOOKS_MAX = 10
export const WEBHOOK_NAME_CHARS_MAX = 60
export const WEBHOOK_URL_CHARS_MAX = 2_000
export const WEBHOOK_DELIVERIES_SHOWN = 50
export const WEBHOOK_WAITING_MAX = 1_000
export const WEBHOOK_REPLY_CHARS_MAX = 4_000
export const WEBHOOK_MS_MAX = 15_000
/** Failed deliveries in a row that disable a webhook. */
export const WEBHOOK_FAILURES_MAX = 20
/** How long the former secret signs, too. */
export const WEBHOOK_FORMER_MS = 24 * 60 * 60_000
/** Addresses that begin a run. */
export const TRIGGERS_MAX = 20
export const TRIGGER_NAME_CHARS_MAX = 60
export const TRIGGER_TEXT_CHARS_MAX = 8_000
export const TRIGGER_BODY_CHARS_MAX = 8_000
export const TRIGGER_WEBHOOKS_MAX = 5
export const TRIGGER_PER_ADDRESS_MINUTE_MAX = 10
export const TRIGGER_PER_MINUTE_MAX = 60
/** A device that was heard of no later is offline. */
export const DEVICE_SILENT_MS = 5 * 60_000
/** What one turn may ask its person: in all, and at the same time. */
export const ASKS_PER_TURN_MAX = 10
export const ASKS_OPEN_MAX = 4
export const ASK_FIELDS_MAX = 20
export const ASK_QUESTION_CHARS_MAX = 2_000
export const ASK_OPTION_CHARS_MAX = 200
export const ASK_ANSWER_CHARS_MAX = 8_000
/** How often an MCP server may ask the person in one call. */
export const MCP_ROUNDS_MAX = 3
