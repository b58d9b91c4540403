/** Makes this program the embedding process; of no use by hand, so not in the help text. */
export const EMBED_COMMAND = 'embed-worker'
