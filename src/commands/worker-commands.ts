/** What this program starts itself as; of no use by hand, so not in the help text. */

/** The embedding process. */
export const EMBED_COMMAND = 'embed-worker'
/** The recognising process. */
export const ASR_COMMAND = 'asr-worker'
/** The process that reads what strangers send: recordings and pages. */
export const PARSE_COMMAND = 'parse-worker'
