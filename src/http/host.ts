/** A name or address with an optional port; anything else would end up inside URLs made of it. */
const FORM = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i

/**
 * Whether this is a host as a Host header names it (RFC 9110, section 7.2). The form alone lets
 * through ports above 65535 and addresses such as 256.0.0.1.
 */
export const isHost = (text: string): boolean => FORM.test(text) && URL.canParse(`http://${text}`)
