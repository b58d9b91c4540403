/** A parameter of the header `WWW-Authenticate` (RFC 9110, section 11.2); null without it. */
export function challengeParameter(header: string, name: string): string | null {
  const found = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))`, 'i').exec(
    header,
  )
  return found?.[1] ?? found?.[2] ?? null
}
