import { CopyButton } from './button.tsx'

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The curl command of the page's last call. */
export const curlOf = (body: unknown): string =>
  [
    `curl -N ${location.origin}/v1/agent`,
    `  -H 'Authorization: Bearer <API_KEY>'`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${shellQuoted(JSON.stringify(body))}`,
  ].join(' \\\n')

export function CurlExample({ body }: { readonly body: unknown }) {
  const command = curlOf(body)
  return (
    <div className="relative">
      <pre className="code pr-14">{command}</pre>
      <div className="absolute top-2 right-2">
        <CopyButton text={command} size="small" />
      </div>
    </div>
  )
}
