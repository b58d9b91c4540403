/** The page that asks a person whether a native app may have a key; `path` has the query. */
export const consentPage = (url: string, path: string, headers: Record<string, string>) =>
  fetch(url + path, { headers, redirect: 'manual' })

/** The fields of the page's form. */
export function fieldsOf(html: string): URLSearchParams {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return new URLSearchParams([...inputs].map(([, name = '', value = '']) => [name, value]))
}

/** Sends the form of the page, as a browser does after a click on *Allow*. */
export const sendConsent = (url: string, form: URLSearchParams, headers: Record<string, string>) =>
  fetch(`${url}/auth/native/authorize`, {
    method: 'POST',
    headers: { ...headers, origin: url, 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    redirect: 'manual',
  })

/** The answer to a click on *Allow* on the page. */
export async function consent(url: string, path: string, headers: Record<string, string>) {
  const page = await consentPage(url, path, headers)
  if (page.status !== 200) throw new Error(`consent: ${page.status} ${await page.text()}`)
  return sendConsent(url, fieldsOf(await page.text()), headers)
}

/** The code in the deep link that a native app gets with the person's consent. */
export async function consentedCode(url: string, path: string, headers: Record<string, string>) {
  const { headers: answer } = await consent(url, path, headers)
  return new URL(answer.get('location') ?? '').searchParams.get('code') ?? ''
}
