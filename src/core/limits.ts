/**
 * The limits of the product (specification, Limits; contract sections 1, 3, 4) and what bounds the
 * share of the machine that a client, a tenant or an upstream can take. What only one vendor,
 * algorithm or cache knows stands beside it.
 */
export const SESSION_ID_CHARS_MAX = 200
export const AGENT_TEXT_CHARS_MAX = 32_000
export const IMAGES_MAX = 8
export const IMAGE_BYTES_MAX = 10 * 1024 * 1024
export const BODY_BYTES_MAX = 1024 * 1024
export const AGENT_BODY_BYTES_MAX = 48 * 1024 * 1024
/** A connection on which nothing moves for this long is closed; streams have their heartbeat. */
export const IDLE_SECONDS_MAX = 120
/** A whole body of somebody known: 25 MB of sound at 14 kB a second. */
export const BODY_MS_MAX = 30 * 60_000
/**
 * Large bodies that are in memory at a time, as sent, and at most this part of the machine:
 * text and values made of them take several times as much.
 */
export const BODIES_BYTES_MAX = 1024 * 1024 * 1024
export const BODIES_MEMORY_SHARE_MAX = 1 / 8
/** Of a body this small nobody needs longer than `IDLE_SECONDS_MAX`: 550 bytes a second. */
export const SHORT_BODY_BYTES_MAX = 64 * 1024

/** Of a tenant, revoked ones included; a list of them is one answer. */
export const KEYS_MAX = 10_000
export const RATE_LIMIT_DEFAULT = 60
export const RATE_LIMIT_MAX = 100_000
export const RATE_WINDOW_MS = 60_000

export const SESSIONS_LIMIT_DEFAULT = 100
export const SESSIONS_LIMIT_MAX = 500
export const LOGS_LIMIT_DEFAULT = 100
export const LOGS_LIMIT_MAX = 500
export const LOG_RETENTION_DAYS = 7
/** A clock that ran evenly for this long is taken for right; nothing is removed by it before. */
export const CLOCK_SETTLED_MS = 30 * 60_000
export const LOG_FILTER_CHARS_MAX = 200
export const USAGE_DAYS = 7

export const APPS_MAX = 20
export const APP_NAME_CHARS_MAX = 60
export const SYSTEM_PROMPT_CHARS_MAX = 8_000
export const MODEL_CHARS_MAX = 200
export const TOOLS_ENABLED_MAX = 16
export const TOOL_NAME_CHARS_MAX = 64
/** As many as one import brings; a list of them is one answer. */
export const PERSONAS_MAX = 1_000
export const PERSONA_NAME_CHARS_MAX = 200
export const PERSONA_PROMPT_CHARS_MAX = 8_000
export const TEMPERATURE_MAX = 2
/** Personas, and apps, of one import. */
export const IMPORT_ITEMS_MAX = 1_000
/** Ids are the product's own and shorter; a reference to one need not exist. */
export const REFERENCE_CHARS_MAX = 200

export const PROVIDER_URL_CHARS_MAX = 300
export const PROVIDER_KEY_CHARS_MAX = 500
export const PROBE_MS_MAX = 10_000
/** Tenants whose own channel is kept open in memory. */
export const PROVIDER_CHANNELS_MAX = 1_000

export const DEVICES_MAX = 100
export const DEVICE_NAME_CHARS_MAX = 60
/** A device heard of this recently is shown as online. */
export const DEVICE_ONLINE_MS_MAX = 5 * 60_000
export const DEVICE_LABEL_CHARS_MAX = 200
export const ACTIVATION_CODE_CHARS = 16
export const ACTIVATION_CODE_TTL_MS = 15 * 60_000
/** Activations a minute from one address. */
export const ACTIVATIONS_MAX = 10

/** An upload to recognition, and the decoded `audio_b64` of the voice loop. */
export const AUDIO_BYTES_MAX = 25 * 1024 * 1024
export const ASR_BODY_BYTES_MAX = AUDIO_BYTES_MAX
export const VOICE_BODY_BYTES_MAX = 36 * 1024 * 1024
/** Recordings that we decode ourselves: 25 MB of silent FLAC would be 38 hours. */
export const AUDIO_SECONDS_MAX = 15 * 60
export const AUDIO_DECODERS_MAX = 4
/** One second of sound takes a decoder milliseconds; a hostile file can hold it for ever. */
export const AUDIO_DECODE_STEP_MS_MAX = 20_000

/** Of one tenant at a time; the others of it wait. */
export const HEARINGS_PER_TENANT_MAX = 8
export const SPEECHES_PER_TENANT_MAX = 32

export const TTS_TEXT_CHARS_MAX = 10_000
export const VOICE_ID_CHARS_MAX = 200
/** An upstream that never stops speaking is cut here; 10,000 characters take some 40 minutes. */
export const TTS_AUDIO_SECONDS_MAX = 60 * 60
export const TTS_FIRST_AUDIO_MS_MAX = 30_000
export const TTS_SILENCE_MS_MAX = 30_000
/** One recognition, the wait for its turn included where recognition is done by this machine. */
export const ASR_MS_MAX = 120_000
/** Recordings that are recognised on this machine or wait for it. */
export const ASR_CALLS_MAX = 16
/** A large model on a slow disk. */
export const RECOGNISER_LOAD_MS_MAX = 60_000
/** Compressed speech that an upstream sends although PCM was asked for. */
export const TTS_ENCODED_BYTES_MAX = 25 * 1024 * 1024
/** The last event of MiniMax repeats a piece's whole sound in hex: ten minutes of it. */
export const TTS_EVENT_BYTES_MAX = 80 * 1024 * 1024

export const MODEL_CALLS_PER_TURN_MAX = 8
export const MEMORY_TURNS_MAX = 20
export const MEMORY_CHARS_MAX = 24_000
/**
 * What a session may hold verbatim, in UTF-16 units, while no model can fold it: more than one turn
 * of the largest kind, so that there is always one to be folded.
 */
export const SESSION_UNITS_MAX = 3_000_000

/** Open streams that a tenant can count on while the server is crowded, whatever its keys. */
export const STREAMS_PER_TENANT_SURE = 1_000
/** A client that reads nothing for this long has lost its stream. */
export const STREAM_STALL_MS_MAX = 60_000

/** Retrieved passages below this cosine similarity are not shown to the model. */
export const KB_SCORE_MIN = 0.45
/** How long a turn waits for its passages; it goes on without them. */
export const KB_RETRIEVAL_MS_MAX = 15_000
export const KB_DOCS_MAX = 50
export const KB_TITLE_CHARS_MAX = 200
/** UTF-8 bytes of the text as received. */
export const KB_DOC_BYTES_MAX = 100 * 1024
/** A document as JSON, where a character may take six bytes; the text itself is checked apart. */
export const KB_BODY_BYTES_MAX = 1024 * 1024
export const KB_HITS_MAX = 5
export const KB_PREVIEW_CHARS_MAX = 200
export const KB_CHUNKS_SHOWN_MAX = 50
/** Of one tenant at a time: all tenants share one embedding model and one reading thread. */
export const KB_SEARCHES_PER_TENANT_MAX = 4
export const KB_UPLOADS_PER_TENANT_MAX = 2
/** What of a question is searched for; a longer one is a text of its own. */
export const KB_QUERY_CHARS_MAX = 2_000

/** Brackets of JSON texts of others within each other; no schema and no vendor comes near. */
export const JSON_DEPTH_MAX = 64
/** Brackets and commas of such a text: an import of a megabyte has a quarter of a million. */
export const JSON_SIGNS_MAX = 300_000
/** One line or event of an upstream's event stream; beyond it the stream counts as malformed. */
export const SSE_EVENT_BYTES_MAX = 1024 * 1024
/** Status line and headers of an upstream's answer, and lines between the pieces of its body. */
export const UPSTREAM_HEAD_BYTES_MAX = 64 * 1024
/** What has come of an answer and is not read yet, before its sender is made to wait. */
export const UPSTREAM_WAITING_BYTES_MAX = 256 * 1024
/** How much of an upstream's error body is looked at; never passed on. */
export const UPSTREAM_ERROR_BYTES_MAX = 8 * 1024
export const UPSTREAM_MODELS_BYTES_MAX = 1024 * 1024
export const UPSTREAM_VECTORS_BYTES_MAX = 32 * 1024 * 1024
/** Text of a turn, reasoning inside it included: several times what models can write. */
export const ANSWER_CHARS_MAX = 2_000_000
/** Text of all turns under way; beyond it only turns that are shorter than this go on. */
export const TURNS_TEXT_UNITS_MAX = 32_000_000
export const TURN_TEXT_UNITS_SURE = 100_000
/** What of an upstream's stream brings nothing, comments and reasoning: 100,000 tokens of it. */
export const SILENT_BYTES_MAX = 64 * 1024 * 1024
/** Arguments of all tool calls of one model answer together. */
export const TOOL_ARGUMENTS_CHARS_MAX = 1024 * 1024
export const TOOL_CALLS_MAX = 64
/** Each may be a request to somebody's site or a search; models ask for a few. */
export const TOOL_CALLS_PER_TURN_MAX = 128
export const TOOLS_AT_ONCE_MAX = 4
/** What one tool may hand to the model. */
export const TOOL_RESULT_CHARS_MAX = 16_000
export const CALCULATOR_CHARS_MAX = 500
export const CALCULATOR_DEPTH_MAX = 64
/** Results beyond ten to this power, or its inverse, are refused. */
export const CALCULATOR_EXPONENT_MAX = 5_000
export const FETCH_URL_CHARS_MAX = 2_000
export const FETCH_URL_BYTES_MAX = 200 * 1024
export const FETCH_URL_REDIRECTS_MAX = 5
export const FETCH_URL_TIMEOUT_MS = 10_000

/** A console login holds this long. */
export const SESSION_SECONDS_MAX = 7 * 24 * 60 * 60
/** How far a clock may be set back before the logins of before count as forged. */
export const CLOCK_BACK_SECONDS_MAX = 24 * 60 * 60

/** Bodies that nobody has shown a credential for. */
export const LOGIN_BODY_BYTES_MAX = 16 * 1024
export const EMAIL_CHARS_MAX = 254
export const LOGIN_CODE_DIGITS = 6
export const LOGIN_CODE_SECONDS_MAX = 5 * 60
export const LOGIN_CODE_WRONG_ATTEMPTS_MAX = 5
/** Codes held at once; beyond it the oldest go. */
export const LOGIN_CODES_MAX = 100_000
export const LOGIN_CODES_PER_ADDRESS_MAX = 5
export const LOGIN_CODES_WINDOW_MS = 10 * 60 * 1000
export const LOGIN_STARTS_PER_MINUTE_MAX = 20
/**
 * Wrong guesses of one client address at codes that somebody waits for: five for each code and the
 * requests of a minute alone would let it try a hundred and fifty thousand a day.
 */
export const LOGIN_GUESSES_PER_HOUR_MAX = 100
/** Verifications, exchanges and OAuth steps of one client address. */
export const LOGIN_STEPS_PER_MINUTE_MAX = 120
/** A person may take this long at the provider's own login page. */
export const OAUTH_FLOW_SECONDS_MAX = 10 * 60
export const EXCHANGE_CODE_SECONDS_MAX = 5 * 60
export const EXCHANGE_CODES_MAX = 10_000
export const NEXT_PATH_CHARS_MAX = 2_000
