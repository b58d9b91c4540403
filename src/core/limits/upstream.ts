/** Limits on what an upstream (model, voice, embedding, fetched page) can send or take. */
export const PROBE_MS_MAX = 10_000
/** Longest speech of one request; 10,000 characters take some 40 minutes. */
export const TTS_AUDIO_SECONDS_MAX = 60 * 60
/** The longest speech, listened to at its own pace at half the speed. */
export const LISTENING_MS_MAX = 2 * TTS_AUDIO_SECONDS_MAX * 1_000
export const TTS_FIRST_AUDIO_MS_MAX = 30_000
export const TTS_SILENCE_MS_MAX = 30_000
/** Compressed speech that an upstream sends although PCM was asked for. */
export const TTS_ENCODED_BYTES_MAX = 25 * 1024 * 1024
/** The last event of MiniMax repeats a piece's whole sound in hex: ten minutes of it. */
export const TTS_EVENT_BYTES_MAX = 80 * 1024 * 1024
/** One line or event of an upstream's event stream; beyond it the stream counts as malformed. */
export const SSE_EVENT_BYTES_MAX = 1024 * 1024
/** Bytes of an upstream's error body that are read; who can mend the channel sees a part. */
export const UPSTREAM_ERROR_BYTES_MAX = 8 * 1024
export const UPSTREAM_MODELS_BYTES_MAX = 1024 * 1024
export const UPSTREAM_VECTORS_BYTES_MAX = 32 * 1024 * 1024
/** Text of a turn, reasoning inside it included: several times what models can write. */
export const ANSWER_CHARS_MAX = 2_000_000
/** Reasoning of a model call that is shown; what follows it counts as silence. */
export const THINKING_CHARS_MAX = 200_000
/** Bytes of a model stream without visible text (comments, reasoning), about 100,000 tokens. */
export const SILENT_BYTES_MAX = 64 * 1024 * 1024
/** Tokens of one model call, input or output, that are believed: ten times the longest context. */
export const TOKENS_TOLD_MAX = 10_000_000
/** Arguments of all tool calls of one model answer together. */
export const TOOL_ARGUMENTS_CHARS_MAX = 1024 * 1024
/** Tool calls of one answer; a turn runs fewer (`TOOL_CALLS_PER_TURN_MAX`), the rest fail. */
export const TOOL_CALLS_MAX = 256
/** What one tool may hand to the model. */
export const TOOL_RESULT_CHARS_MAX = 16_000
export const FETCH_URL_CHARS_MAX = 2_000
export const FETCH_URL_BYTES_MAX = 200 * 1024
export const FETCH_URL_REDIRECTS_MAX = 5
export const FETCH_URL_TIMEOUT_MS = 10_000
/** A tool server that leaves a current method unanswered for this long speaks an older revision. */
export const MCP_PROBE_MS_MAX = 3_000
/** Addresses and identifiers that metadata of sign-in services names. */
export const OAUTH_ADDRESS_CHARS_MAX = 2_000
/** Lists of the same, such as methods and scopes, by their entries and the length of each. */
export const OAUTH_LIST_MAX = 1_000
export const OAUTH_WORD_CHARS_MAX = 500
/** Lists that are kept with tokens: methods and algorithms are a dozen. */
export const OAUTH_KEPT_LIST_MAX = 50
/** An access or refresh token, which goes into a header. */
export const OAUTH_TOKEN_CHARS_MAX = 16 * 1024
/** One search of the web by the tool. */
export const SEARCH_TIMEOUT_MS = 10_000
export const SEARCH_BYTES_MAX = 1024 * 1024
export const SEARCH_QUERY_CHARS_MAX = 500
export const SEARCH_RESULTS_MAX = 10
export const SEARCH_TITLE_CHARS_MAX = 300
export const SEARCH_SNIPPET_CHARS_MAX = 1_000
